// cuFFT on the caller's stream.

#include <cmath>
#include <map>

#include <cufft.h>

#include "tessera/base/error.hpp"
#include "tessera/base/progress.hpp"
#include "tessera/base/text.hpp"
#include "tessera/fft/plan.hpp"

#include "fft/shared_plans.hpp"

namespace tessera::fft {
namespace {

constexpr cufftType type = sizeof(Real) == sizeof(float) ? CUFFT_C2C : CUFFT_Z2Z;

void check_cufft(cufftResult code, const char* call) {
  if (code != CUFFT_SUCCESS) throw SystemError(text("cuFFT: ", call, " failed with code ", code));
}

}  // namespace

/// cuFFT plans are made for one number of images: one plan for each number that is asked for.
struct Plan::BackEnd {
  Shape2 shape;
  std::map<int, cufftHandle> plan_of_count;

  cufftHandle plan_for(int n) {
    const auto found = plan_of_count.find(n);
    if (found != plan_of_count.end()) return found->second;
    cufftHandle plan = 0;
    int size[2] = {shape.h, shape.w};
    const int distance = static_cast<int>(shape.size());
    check_cufft(cufftPlanMany(&plan, 2, size, nullptr, 1, distance, nullptr, 1, distance, type, n),
                "cufftPlanMany");
    return plan_of_count[n] = plan;
  }

  void transform(const device::Device& exec, device::complex* images, int n, int direction) {
    if (n == 0) return;
    const cufftHandle plan = plan_for(n);
    check_cufft(cufftSetStream(plan, exec.cuda_stream()), "cufftSetStream");
    if constexpr (sizeof(Real) == sizeof(float)) {
      auto* data = reinterpret_cast<cufftComplex*>(images);
      check_cufft(cufftExecC2C(plan, data, data, direction), "cufftExecC2C");
    } else {
      auto* data = reinterpret_cast<cufftDoubleComplex*>(images);
      check_cufft(cufftExecZ2Z(plan, data, data, direction), "cufftExecZ2Z");
    }
  }

  ~BackEnd() {
    for (const auto& [n, plan] : plan_of_count) cufftDestroy(plan);
  }
};

Plan::Plan(Shape2 shape, Planning)
    : shape_(shape),
      unitary_scale_(static_cast<Real>(1 / std::sqrt(static_cast<double>(shape.size())))),
      back_end_(std::make_unique<BackEnd>()) {
  back_end_->shape = shape;
}

Plan::~Plan() = default;

void Plan::forward(const device::Device& exec, device::complex* images, int n) const {
  const device::Region region("tessera::fft::forward");
  note_progress();
  back_end_->transform(exec, images, n, CUFFT_FORWARD);
}

void Plan::inverse(const device::Device& exec, device::complex* images, int n) const {
  const device::Region region("tessera::fft::inverse");
  note_progress();
  back_end_->transform(exec, images, n, CUFFT_INVERSE);
}

std::string measured_plans(Shape2) {
  return {};
}

void take_plans(const std::string&) {}

std::int64_t work_bytes(Shape2 shape, int n_images) {
  int size[2] = {shape.h, shape.w};
  const int distance = static_cast<int>(shape.size());
  std::size_t bytes = 0;
  check_cufft(cufftEstimateMany(2, size, nullptr, 1, distance, nullptr, 1, distance, type, n_images,
                                &bytes),
              "cufftEstimateMany");
  return static_cast<std::int64_t>(bytes);
}

std::string library_version() {
  int version = 0;
  check_cufft(cufftGetVersion(&version), "cufftGetVersion");
  return text("cuFFT ", version / 1000, ".", version / 100 % 10, ".", version % 100);
}

}  // namespace tessera::fft

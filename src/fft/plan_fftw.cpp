#include <cstdlib>
#include <memory>
#include <new>

#include "tessera/base/progress.hpp"
#include "tessera/fft/plan.hpp"

#include "fft/shared_plans.hpp"
#include "fftw_types.hpp"

namespace tessera::fft {

using Library = Fftw<Real>;

struct Plan::BackEnd {
  Library::Plan forward = nullptr;
  Library::Plan inverse = nullptr;
  ~BackEnd() {
    if (forward) Library::destroy(forward);
    if (inverse) Library::destroy(inverse);
  }
};

Plan::Plan(Shape2 shape, Planning planning)
    : shape_(shape),
      unitary_scale_(static_cast<Real>(1 / std::sqrt(static_cast<double>(shape.size())))),
      back_end_(std::make_unique<BackEnd>()) {
  // One image a call: it stays in the cache, and any number of images uses the same plan. Images
  // may lie at any address that an odd size brings about, hence FFTW_UNALIGNED there.
  const bool aligned = shape.size() % 2 == 0;
  const unsigned flags = (planning == Planning::measured ? FFTW_MEASURE : FFTW_ESTIMATE) |
                         (aligned ? 0u : FFTW_UNALIGNED);
  Library::Complex* scratch = Library::allocate(static_cast<std::size_t>(shape.size()));
  if (!scratch) throw std::bad_alloc();
  back_end_->forward = Library::plan_2d(shape.h, shape.w, scratch, scratch, FFTW_FORWARD, flags);
  back_end_->inverse = Library::plan_2d(shape.h, shape.w, scratch, scratch, FFTW_BACKWARD, flags);
  Library::release(scratch);
}

Plan::~Plan() = default;

namespace {

void transform(Library::Plan plan, device::complex* images, int n, std::int64_t image_size) {
  for (int i = 0; i < n; ++i) {
    auto* image = reinterpret_cast<Library::Complex*>(images + i * image_size);
    Library::execute(plan, image, image);
  }
}

}  // namespace

void Plan::forward(const device::Device& exec, device::complex* images, int n) const {
  note_progress();
  const device::Region region("tessera::fft::forward");
  exec.fence();  // FFTW runs on the calling thread
  transform(back_end_->forward, images, n, shape_.size());
}

void Plan::inverse(const device::Device& exec, device::complex* images, int n) const {
  note_progress();
  const device::Region region("tessera::fft::inverse");
  exec.fence();
  transform(back_end_->inverse, images, n, shape_.size());
}

std::string measured_plans(Shape2 shape) {
  const Plan plan(shape, Planning::measured);
  const std::unique_ptr<char, decltype(&std::free)> wisdom(Library::wisdom(), std::free);
  return wisdom ? wisdom.get() : "";
}

/// What FFTW cannot use, from another version say, it measures again.
void take_plans(const std::string& measured) {
  Library::take_wisdom(measured.c_str());
}

std::int64_t work_bytes(Shape2, int) {
  return 0;  // in place, one image at a time
}

std::string library_version() {
  return fftw_version;
}

}  // namespace tessera::fft

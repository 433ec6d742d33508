#include <cstdlib>
#include <memory>
#include <new>

#include "tessera/base/progress.hpp"
#include "tessera/fft/plan.hpp"

#include "fft/line_plan.hpp"
#include "fft/shared_plans.hpp"
#include "fftw_types.hpp"

namespace tessera::fft {

using Library = Fftw<Real>;

/// There and back, of one image a call: it stays in the cache, and any number of images uses the
/// same plans.
class PlanPair {
 public:
  /// @param make (scratch image, FFTW's sign, its flags): a plan
  template <class Make>
  PlanPair(Shape2 shape, Planning planning, const Make& make) : image_size_(shape.size()) {
    // Images may lie at any address that an odd size brings about, hence FFTW_UNALIGNED there.
    const bool aligned = shape.size() % 2 == 0;
    const unsigned flags = (planning == Planning::measured ? FFTW_MEASURE : FFTW_ESTIMATE) |
                           (aligned ? 0u : FFTW_UNALIGNED);
    Library::Complex* scratch = Library::allocate(static_cast<std::size_t>(shape.size()));
    if (!scratch) throw std::bad_alloc();
    forward_ = make(scratch, FFTW_FORWARD, flags);
    inverse_ = make(scratch, FFTW_BACKWARD, flags);
    Library::release(scratch);
  }
  ~PlanPair() {
    if (forward_) Library::destroy(forward_);
    if (inverse_) Library::destroy(inverse_);
  }
  PlanPair(const PlanPair&) = delete;
  PlanPair& operator=(const PlanPair&) = delete;

  void forward(const device::Device& exec, device::complex* images, int n) const {
    const device::Region region("tessera::fft::forward");
    execute(exec, forward_, images, n);
  }
  void inverse(const device::Device& exec, device::complex* images, int n) const {
    const device::Region region("tessera::fft::inverse");
    execute(exec, inverse_, images, n);
  }

 private:
  void execute(const device::Device& exec, Library::Plan plan, device::complex* images,
               int n) const {
    note_progress();
    exec.fence();  // FFTW runs on the calling thread
    for (int i = 0; i < n; ++i) {
      auto* image = reinterpret_cast<Library::Complex*>(images + i * image_size_);
      Library::execute(plan, image, image);
    }
  }

  std::int64_t image_size_;
  Library::Plan forward_ = nullptr;
  Library::Plan inverse_ = nullptr;
};

namespace {

/// Lines follow one another by `from_line`, their n pixels by `from_pixel`.
struct Lines {
  int n;
  int count;
  int from_pixel;
  int from_line;
};

Lines lines(Shape2 shape, Along along) {
  return along == Along::x ? Lines{shape.w, shape.h, 1, shape.w}
                           : Lines{shape.h, shape.w, shape.w, 1};
}

}  // namespace

struct Plan::BackEnd : PlanPair {
  using PlanPair::PlanPair;
};

Plan::Plan(Shape2 shape, Planning planning)
    : shape_(shape),
      unitary_scale_(static_cast<Real>(1 / std::sqrt(static_cast<double>(shape.size())))),
      back_end_(std::make_unique<BackEnd>(
          shape, planning, [&](Library::Complex* image, int sign, unsigned flags) {
            return Library::plan_2d(shape.h, shape.w, image, image, sign, flags);
          })) {}

Plan::~Plan() = default;

void Plan::forward(const device::Device& exec, device::complex* images, int n) const {
  back_end_->forward(exec, images, n);
}

void Plan::inverse(const device::Device& exec, device::complex* images, int n) const {
  back_end_->inverse(exec, images, n);
}

struct LinePlan::BackEnd : PlanPair {
  using PlanPair::PlanPair;
};

LinePlan::LinePlan(Shape2 shape, Along along, Planning planning)
    : back_end_(std::make_unique<BackEnd>(
          shape, planning, [&](Library::Complex* image, int sign, unsigned flags) {
            const auto [n, count, from_pixel, from_line] = lines(shape, along);
            return Library::plan_many(1, &n, count, image, nullptr, from_pixel, from_line, image,
                                      nullptr, from_pixel, from_line, sign, flags);
          })) {}

LinePlan::~LinePlan() = default;

void LinePlan::forward(const device::Device& exec, device::complex* images, int n) const {
  back_end_->forward(exec, images, n);
}

void LinePlan::inverse(const device::Device& exec, device::complex* images, int n) const {
  back_end_->inverse(exec, images, n);
}

std::string measured_plans(Shape2 shape) {
  const Plan plan(shape, Planning::measured);
  const LinePlan columns(shape, Along::y, Planning::measured);
  const LinePlan rows(shape, Along::x, Planning::measured);
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

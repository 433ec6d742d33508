#pragma once
/// 2-D Fourier transforms of stacks of images where the device keeps them.

#include <cstdint>
#include <memory>
#include <string>

#include "tessera/base/box.hpp"
#include "tessera/device/device.hpp"

namespace tessera::fft {

/// How a plan is found. `measured` is faster to run, but may round differently from one run to the
/// next.
enum class Planning { measured, reproducible };

/// In place and *unnormalised*: callers fold `unitary_scale` into a kernel that touches the data
/// anyway.
class Plan {
 public:
  Plan(Shape2 shape, Planning planning);
  ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  /// exp(-i ...) of `n` images that lie one after another.
  void forward(const device::Device& exec, device::complex* images, int n) const;
  /// exp(+i ...)
  void inverse(const device::Device& exec, device::complex* images, int n) const;
  /// 1 / sqrt(h w): times this, each transform is unitary.
  Real unitary_scale() const { return unitary_scale_; }
  Shape2 shape() const { return shape_; }

 private:
  struct BackEnd;
  Shape2 shape_;
  Real unitary_scale_;
  std::unique_ptr<BackEnd> back_end_;
};

/// Device memory that a Plan takes beside the images, for transforms of up to `n_images` at a time.
std::int64_t work_bytes(Shape2 shape, int n_images);

/// Name and version of the transform library, for `tessera --version`.
std::string library_version();

}  // namespace tessera::fft

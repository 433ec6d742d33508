#pragma once
/// 1-D Fourier transforms along one axis of stacks of images, on hosts.

#include <memory>

#include "tessera/base/box.hpp"
#include "tessera/device/device.hpp"
#include "tessera/fft/plan.hpp"

namespace tessera::fft {

/// Of all columns of an image, or of all rows.
enum class Along { y, x };

/// As Plan: in place and unnormalised.
class LinePlan {
 public:
  LinePlan(Shape2 shape, Along along, Planning planning);
  ~LinePlan();
  LinePlan(const LinePlan&) = delete;
  LinePlan& operator=(const LinePlan&) = delete;

  /// exp(-i ...) of `n` images that lie one after another.
  void forward(const device::Device& exec, device::complex* images, int n) const;
  /// exp(+i ...)
  void inverse(const device::Device& exec, device::complex* images, int n) const;

 private:
  struct BackEnd;
  std::unique_ptr<BackEnd> back_end_;
};

}  // namespace tessera::fft

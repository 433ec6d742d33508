#pragma once
/// The Gram matrix of modes.

#include <complex>

#include "tessera/device/device.hpp"
#include "tessera/physics/sizes.hpp"

namespace tessera::physics {

/// All products by one launch, in double and in a fixed order. Why not by a library:
/// docs/decisions/0024-dense-products.md.
class ModeProducts {
 public:
  /// @param window of an image of a mode
  ModeProducts(int n_modes, Shape2 window);
  static std::int64_t bytes(int n_modes, Shape2 window) {
    return bytes_of<double>(2 * n_pairs(n_modes) * parts_of(window));
  }
  /// Of images that follow one another. On the device and on its way to the host; does not wait.
  void find(const device::Device& exec, const device::complex* modes);
  /// <mode a, mode b> = sum conj(a) b, b <= a, once the device has been waited for.
  std::complex<double> operator()(int a, int b) const;

 private:
  /// The first of mode a is n_pairs(a).
  static int n_pairs(int n_modes) { return n_modes * (n_modes + 1) / 2; }
  /// Of equal rows, each the work of a team of a GPU's threads.
  static int parts_of(Shape2 window);

  Shape2 window_;
  int n_parts_;
  device::DeviceView<double* [2]> sums_;  ///< (pair, part)
  device::HostView<double* [2]> host_;
};

}  // namespace tessera::physics

#pragma once
/// The Gram matrix of modes.

#include <complex>

#include "tessera/device/device.hpp"

namespace tessera::physics {

/// Inner products of every two modes in one kernel, in a fixed order.
class ModeProducts {
 public:
  ModeProducts(int n_modes, Shape2 window);
  /// Device memory that it takes.
  static std::int64_t bytes(int n_modes, Shape2 window);

  /// @param modes (n_modes, h, w). Does not wait for the device.
  void find(const device::Device& exec, const device::complex* modes);
  /// sum conj(mode a) mode b, b <= a, summed in double, once the device has been waited for.
  std::complex<double> product(int a, int b) const;

 private:
  Shape2 window_;
  device::DeviceView<double* [2]> parts_;  ///< of pairs and bands of rows: re, im
  device::HostView<double* [2]> host_parts_;
};

}  // namespace tessera::physics

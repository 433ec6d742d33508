#pragma once
/// How far the model is from the measurement, in sums.

#include <array>

#include "tessera/device/device.hpp"

namespace tessera::physics {

/// Sums over trusted pixels of all patterns seen so far, of this rank.
struct FigureSums {
  /// Their places, on the device too.
  enum Name : int {
    squared_difference,   ///< (sqrt(I_model) - sqrt(I_measured))^2
    absolute_difference,  ///< |sqrt(I_model) - sqrt(I_measured)|
    intensity,            ///< I_measured
    amplitude,            ///< sqrt(I_measured)
    cost,                 ///< of the noise model; squared_difference where it is amplitude
    n_pixels,
    n_sums
  };
  std::array<double, n_sums> values{};

  double operator[](Name name) const { return values[name]; }
  double error() const { return values[squared_difference] / values[intensity]; }
  /// The same by the noise model: of sums whose cost is 0 for a perfect model.
  double model_error() const { return values[cost] / values[intensity]; }
  double r_factor() const { return values[absolute_difference] / values[amplitude]; }
};

/// FigureSums on the device, as they grow.
class RunningFigures {
 public:
  RunningFigures();

  /// The sums so far, which start anew. Waits for the device.
  FigureSums take(const device::Device& exec);
  /// The same to the first FigureSums::n_sums values of `taken`, on the device. Does not wait.
  void take(const device::Device& exec, const device::DeviceView<double*>& taken);

  /// (FigureSums::n_sums)
  const device::DeviceView<double*>& sums() const { return sums_; }
  /// As many, for who adds to them.
  const device::DeviceView<double*>& scratch() const { return scratch_; }

 private:
  device::DeviceView<double*> sums_;
  device::DeviceView<double*> scratch_;
  device::HostView<double*> host_;
};

}  // namespace tessera::physics

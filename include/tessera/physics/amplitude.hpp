#pragma once
/// Comparing the model with the measurement in the detector plane.

#include "tessera/physics/forward_model.hpp"

namespace tessera::physics {

/// Sums over valid pixels of all positions seen so far, of this rank.
struct AmplitudeSums {
  double squared_difference = 0;   ///< (sqrt(I_model) - sqrt(I_measured))^2
  double absolute_difference = 0;  ///< |sqrt(I_model) - sqrt(I_measured)|
  double intensity = 0;            ///< I_measured
  double amplitude = 0;            ///< sqrt(I_measured)
  double cost = 0;                 ///< of the noise model; squared_difference where it is amplitude
  double n_pixels = 0;
  double error() const { return squared_difference / intensity; }
  double r_factor() const { return absolute_difference / amplitude; }
};

class AmplitudeModel {
 public:
  AmplitudeModel();

  /// waves *= -dL/dI on valid pixels, 0 elsewhere, the negative gradient of the cost L by the
  /// waves. With amplitudes that is sqrt(I_measured / I_model) - 1, what the modulus constraint
  /// adds to the detector wave (Thibault & Menzel 2013, eq. 5). I_model is the sum over the
  /// position's waves, blurred by the point spread, plus the background, whose slopes are added to
  /// model.slopes() where it is fitted. Adds to the sums.
  void replace_by_residual(const device::Device& exec, ForwardModel& model, const Chunk& chunk);
  /// Adds to the sums only.
  void measure(const device::Device& exec, ForwardModel& model, const Chunk& chunk);

  /// The sums so far, which start anew. Waits for the device.
  AmplitudeSums take_sums(const device::Device& exec);
  /// The same to the first n_sums values of `taken`, on the device. Does not wait.
  void take_sums(const device::Device& exec, const device::DeviceView<double*>& taken);

  static constexpr int n_sums = 6;
  static constexpr int cost_sum = 4;  ///< AmplitudeSums::cost
  /// (n_sums): the members of AmplitudeSums, so far.
  const device::DeviceView<double*>& sums() const { return sums_; }

 private:
  device::DeviceView<double*> sums_;
  device::DeviceView<double*> scratch_;
  device::HostView<double*> host_;
};

}  // namespace tessera::physics

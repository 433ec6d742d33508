#pragma once
/// Comparing the model with the measurement in the detector plane, by amplitudes.

#include "tessera/physics/forward_model.hpp"

namespace tessera::physics {

/// Sums over valid pixels of all positions seen so far, of this rank.
struct AmplitudeSums {
  double squared_difference = 0;   ///< (sqrt(I_model) - sqrt(I_measured))^2
  double absolute_difference = 0;  ///< |sqrt(I_model) - sqrt(I_measured)|
  double intensity = 0;            ///< I_measured
  double amplitude = 0;            ///< sqrt(I_measured)
  double error() const { return squared_difference / intensity; }
  double r_factor() const { return absolute_difference / amplitude; }
};

class AmplitudeModel {
 public:
  AmplitudeModel();

  /// waves *= sqrt(I_measured / I_model) - 1 on valid pixels, 0 elsewhere: what the modulus
  /// constraint adds to the detector wave (Thibault & Menzel 2013, eq. 5), the negative gradient of
  /// the amplitude cost. Adds to the sums.
  void replace_by_residual(const device::Device& exec, ForwardModel& model, const Chunk& chunk);
  /// Adds to the sums only.
  void measure(const device::Device& exec, ForwardModel& model, const Chunk& chunk);

  /// The sums so far, which start anew. Waits for the device.
  AmplitudeSums take_sums(const device::Device& exec);
  /// The same to the first n_sums values of `taken`, on the device. Does not wait.
  void take_sums(const device::Device& exec, const device::DeviceView<double*>& taken);

  static constexpr int n_sums = 4;
  /// (n_sums): the members of AmplitudeSums, so far.
  const device::DeviceView<double*>& sums() const { return sums_; }

 private:
  device::DeviceView<double*> sums_;
  device::DeviceView<double*> scratch_;
  device::HostView<double*> host_;
};

}  // namespace tessera::physics

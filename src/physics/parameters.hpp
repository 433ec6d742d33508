#pragma once
/// What the model knows besides object and probe, and how the cost depends on it.

#include "tessera/device/device.hpp"
#include "tessera/physics/sizes.hpp"

namespace tessera::physics {

/// Views without elements are not part of the model.
struct Parameters {
  // By local position: no exchange.
  device::DeviceView<Real* [2]> shift;  ///< (position * sub-position, 2): pixels beyond the corner
  device::DeviceView<Real**> opr_weight;  ///< (position, OPR mode)
  device::DeviceView<Real*> intensity;    ///< (position), of the beam; 1: the probe's own
  // The same on every rank.
  device::DeviceView<Real**> background;         ///< (h, w), counts per pattern, incoherent
  device::DeviceView<double*> slice_distance_m;  ///< (slice - 1), between neighbours
  device::DeviceView<double[2]> tilt_rad;        ///< of the beam to the sample's normal, (y, x)

  static std::int64_t bytes(const Sizes& sizes) {
    const ModelOptions& model = sizes.model;
    const std::int64_t reals_of_position = 2 * model.n_sub_positions + model.n_opr_modes + 1;
    return (model.own_probes ? bytes_of<Real>(sizes.n_positions * reals_of_position) : 0) +
           (sizes.has_background ? bytes_of<Real>(sizes.window.size()) : 0) +
           (model.n_slices > 1 ? bytes_of<double>(model.n_slices + 1) : 0);
  }
};

/// Which of them are being fitted.
struct FittedParameters {
  bool positions = false;
  bool opr = false;
  bool intensity = false;
  bool background = false;
  bool slice_distance = false;
  bool tilt = false;
  bool any_at_position() const { return positions || opr || intensity; }
  bool any_of_optics() const { return slice_distance || tilt; }
  bool any() const { return any_at_position() || any_of_optics() || background; }
};

/// For every parameter u the slope Re <dpsi/du, chi> = -1/2 d(cost)/du and the curvature
/// ||dpsi/du||^2, summed over what the batch has seen: slope / curvature is the Gauss-Newton step
/// (Nocedal & Wright, Numerical Optimization, eq. 10.23). With ModelOptions::correlates_positions a
/// position's error, pixels, and 1 take their places.
struct ParameterSlopes {
  /// Columns of at_position: y, x, intensity, then the OPR weights.
  static constexpr int y = 0;
  static constexpr int x = 1;
  static constexpr int intensity = 2;
  static constexpr int opr = 3;
  device::DeviceView<double** [2]> at_position;  ///< (position, column): slope, curvature
  device::DeviceView<Real** [2]> background;     ///< (h, w): slope, curvature
  /// Of the same size: zeros, but while a fused kernel runs.
  device::DeviceView<Real** [2]> background_on_chip;
  device::DeviceView<double* [2]> optics;  ///< tilt y, tilt x, then distances
};

}  // namespace tessera::physics

#pragma once
/// Errors of scan positions by cross-correlation of the object in each window before and after the
/// position's own update (Zhang et al. 2013, Opt. Express 21, 13592).

#include "tessera/device/device.hpp"
#include "tessera/fft/plan.hpp"
#include "tessera/physics/model_options.hpp"
#include "tessera/physics/scan_tile.hpp"

#include "physics/gradient_sums.hpp"
#include "physics/parameters.hpp"

namespace tessera::physics {

/// With P_m the modes of a position's probe, |P|^2 = sum_m |P_m|^2, O the object and O' the one
/// that explains the new exit waves best, in the position's window:
///   o = O - sum |P|^2 O / sum |P|^2   a = |P| o   u = sum_m conj(P_m) chi_m = |P|^2 (O' - O)
///   c(s) = Re sum_k (|A_k|^2 + conj(U_k) O_k) exp(2 pi i k s)
/// the correlation of O' with O under |P|^2, its part of O with itself made symmetric: its peak is
/// at 0 but for the update. The error is where c is greatest; places of a fly scan and object modes
/// add up in it. To first order in chi the slope of c at 0 is the exact one of the cost.
class PositionCorrelation {
 public:
  /// What a step of Newton's needs: first and second derivatives.
  static constexpr int n_moments = 5;

  /// @param plan of the window's shape; lives as long as this
  PositionCorrelation(const ScanTile& scan, const ModelOptions& options, const fft::Plan& plan);

  /// slopes.at_position of y and x += the error of each position of `chunk`, pixels, its curvature
  /// += 1.
  /// @param probes (beam, n_modes, h, w)
  /// @param waves chi, which lacks the factor `scale`
  void add(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
           device::complex* probes, const WavesView& waves, Real scale,
           const ParameterSlopes& slopes) const;

  /// Of its arrays.
  static std::int64_t bytes(const ModelOptions& options, Shape2 window);

 private:
  void weigh(const device::Device& exec, const ObjectView& object, const Chunk& chunk,
             device::complex* probes, const WavesView& waves, Real scale) const;
  void find_peaks(const device::Device& exec, int n_positions) const;

  const ScanTile& scan_;
  ModelOptions options_;
  const fft::Plan& plan_;
  int n_images_;  ///< of a position
  // (position of the chunk, image, h, w), then their spectra:
  WavesView object_;                              ///< o; in the end |A|^2 + conj(U) O
  WavesView window_;                              ///< a
  WavesView update_;                              ///< u
  device::DeviceView<device::complex**> ramp_y_;  ///< (image, h): exp(2 pi i k s)
  device::DeviceView<device::complex**> ramp_x_;
  device::DeviceView<double* [2]> peak_;  ///< (position of the chunk)
  device::DeviceView<double* [n_moments]> moments_;
  device::DeviceView<double* [3]> means_;  ///< sum |P|^2 O, sum |P|^2
};

}  // namespace tessera::physics

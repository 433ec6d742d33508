#pragma once
/// The scan as a whole: its mean motion, and the affine map that its positions follow.

#include <span>

#include "tessera/base/box.hpp"
#include "tessera/device/device.hpp"

namespace tessera::solvers {

/// displacement = mean + matrix (start - centre), all (y, x).
struct FrameMotion {
  Vec2 mean;
  Vec2 centre;
  double matrix[2][2] = {};
  double rest_px = 0;  ///< of displacements, rms along an axis

  FrameMotion without_matrix() const { return {mean, centre}; }
  /// Mean and stretch: the matrix' symmetric part.
  FrameMotion without_rotation() const {
    const double shear = (matrix[0][1] + matrix[1][0]) / 2;
    return {mean, centre, {{matrix[0][0], shear}, {shear, matrix[1][1]}}};
  }
};

/// Least squares over all positions, as Odstrcil et al. 2018, Opt. Express 26, 3108, sec. 3.3, fit
/// the geometry of a scan.
/// @param sums of ScanFrame::add_up over all ranks
FrameMotion fitted_motion(std::span<const double> sums);

struct ScanFrame {
  device::DeviceView<double* [2]> given;         ///< by the scan
  device::DeviceView<double* [2]> at_cut;        ///< displacement when the tiles were cut
  device::DeviceView<double* [2]> displacement;  ///< now
  device::DeviceView<int* [2]> corner;
  device::DeviceView<Real* [2]> shift;
  int n_sub_positions;
  double limit_px;   ///< of displacements
  double margin_px;  ///< of displacements beyond at_cut

  static constexpr int n_sums = 13;
  /// sums = of this rank: 1, y, x, yy, xx, yx, dy, dy y, dy x, dx, dx y, dx x, dy^2 + dx^2.
  void add_up(const device::Device& exec, const device::DeviceView<double*>& sums) const;
  /// Every position back by what the motion says of it.
  void take_out(const device::Device& exec, const FrameMotion& motion) const;
  /// Every position to where the motion without its mean puts it; no motion: where the scan does.
  void keep_affine(const device::Device& exec, const FrameMotion& motion) const;
};

/// Where the motion without its mean puts a position, along one axis from where the scan has it.
KOKKOS_INLINE_FUNCTION double turned(const ScanFrame& frame, const FrameMotion& motion,
                                     const int position, const int axis) {
  return motion.matrix[axis][0] * (frame.given(position, 0) - motion.centre.y) +
         motion.matrix[axis][1] * (frame.given(position, 1) - motion.centre.x);
}

/// One position along one axis to `target_px` from where the scan has it, as far as it may go, with
/// its window's corner: the rest stays within half a pixel.
KOKKOS_INLINE_FUNCTION void move_to(const ScanFrame& frame, const int position, const int axis,
                                    const double target_px) {
  const double at_cut = frame.at_cut(position, axis);
  const double min =
      at_cut - frame.margin_px > -frame.limit_px ? at_cut - frame.margin_px : -frame.limit_px;
  const double max =
      at_cut + frame.margin_px < frame.limit_px ? at_cut + frame.margin_px : frame.limit_px;
  const double target = target_px < min ? min : target_px > max ? max : target_px;
  const double by = target - frame.displacement(position, axis);
  frame.displacement(position, axis) = target;
  for (int t = 0; t < frame.n_sub_positions; ++t) {
    const int place = position * frame.n_sub_positions + t;
    const double moved = static_cast<double>(frame.shift(place, axis)) + by;
    // Whole pixels only once they are due, so that rounding does not make the window jump about.
    const int pixels =
        moved > 0.5 || moved < -0.5 ? static_cast<int>(moved + (moved > 0 ? 0.5 : -0.5)) : 0;
    frame.corner(place, axis) += pixels;
    frame.shift(place, axis) = static_cast<Real>(moved - pixels);
  }
}

}  // namespace tessera::solvers

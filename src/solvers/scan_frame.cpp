#include "scan_frame.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace tessera::solvers {

using device::Device;
using device::DeviceView;

FrameMotion fitted_motion(std::span<const double> sums) {
  const double n = sums[0];
  if (n == 0) return {};
  FrameMotion motion;
  motion.centre = {sums[1] / n, sums[2] / n};
  motion.mean = {sums[6] / n, sums[9] / n};
  double rest = sums[12] - n * (motion.mean.y * motion.mean.y + motion.mean.x * motion.mean.x);
  Eigen::Matrix2d spread;
  spread << sums[3] - n * motion.centre.y * motion.centre.y,
      sums[5] - n * motion.centre.y * motion.centre.x, 0,
      sums[4] - n * motion.centre.x * motion.centre.x;
  spread(1, 0) = spread(0, 1);
  // A scan along a line says nothing of what is across it.
  const bool is_line = std::abs(spread.determinant()) < 1e-9 * spread.squaredNorm();
  for (int axis = 0; !is_line && axis < 2; ++axis) {
    const double mean = axis == 0 ? motion.mean.y : motion.mean.x;
    const std::size_t at = axis == 0 ? 6 : 9;
    const Eigen::Vector2d slopes(sums[at + 1] - n * mean * motion.centre.y,
                                 sums[at + 2] - n * mean * motion.centre.x);
    const Eigen::Vector2d along = spread.ldlt().solve(slopes);
    motion.matrix[axis][0] = along(0);
    motion.matrix[axis][1] = along(1);
    rest -= along.dot(slopes);
  }
  motion.rest_px = std::sqrt(std::max(0.0, rest) / (2 * n));
  return motion;
}

namespace {

/// Array reduction over positions.
struct FrameSums {
  using value_type = double[];
  static constexpr unsigned value_count = ScanFrame::n_sums;
  DeviceView<double* [2]> given;
  DeviceView<double* [2]> moved;
  KOKKOS_FUNCTION void operator()(const int i, double sum[]) const {
    const double y = given(i, 0);
    const double x = given(i, 1);
    const double terms[] = {1,
                            y,
                            x,
                            y * y,
                            x * x,
                            y * x,
                            moved(i, 0),
                            moved(i, 0) * y,
                            moved(i, 0) * x,
                            moved(i, 1),
                            moved(i, 1) * y,
                            moved(i, 1) * x,
                            moved(i, 0) * moved(i, 0) + moved(i, 1) * moved(i, 1)};
    for (int k = 0; k < ScanFrame::n_sums; ++k) sum[k] += terms[k];
  }
};

}  // namespace

void ScanFrame::add_up(const Device& exec, const DeviceView<double*>& sums) const {
  Kokkos::parallel_reduce(
      device::kernel_name("tessera::solvers::frame_sums"),
      Kokkos::RangePolicy<Device>(exec, 0, static_cast<int>(displacement.extent(0))),
      FrameSums{given, displacement}, sums);
}

void ScanFrame::take_out(const Device& exec, const FrameMotion& motion) const {
  const ScanFrame frame = *this;
  Kokkos::parallel_for(
      device::kernel_name("tessera::solvers::take_out"),
      Kokkos::RangePolicy<Device>(exec, 0, static_cast<int>(displacement.extent(0))),
      KOKKOS_LAMBDA(const int i) {
        for (int axis = 0; axis < 2; ++axis) {
          const double mean = axis == 0 ? motion.mean.y : motion.mean.x;
          const double by = mean + turned(frame, motion, i, axis);
          move_to(frame, i, axis, frame.displacement(i, axis) - by);
        }
      });
}

void ScanFrame::keep_affine(const Device& exec, const FrameMotion& motion) const {
  const ScanFrame frame = *this;
  Kokkos::parallel_for(
      device::kernel_name("tessera::solvers::keep_affine"),
      Kokkos::RangePolicy<Device>(exec, 0, static_cast<int>(displacement.extent(0))),
      KOKKOS_LAMBDA(const int i) {
        for (int axis = 0; axis < 2; ++axis)
          move_to(frame, i, axis, turned(frame, motion, i, axis));
      });
}

}  // namespace tessera::solvers

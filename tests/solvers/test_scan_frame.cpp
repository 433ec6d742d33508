// The affine map that a scan's displacements follow, and what it leaves of them.

#include <vector>

#include <gtest/gtest.h>

#include "solvers/scan_frame.hpp"

namespace tessera::solvers {
namespace {

using device::Device;
using device::DeviceView;

constexpr double rest_px = 0.3;

/// Of displacements by a map, and up and down like a chessboard, which no affine map has a part in.
FrameMotion found_in(int rows, int columns) {
  const int n = rows * columns;
  std::vector<double> given;
  std::vector<double> displacement;
  for (int i = 0; i < n; ++i) {
    const double y = 7.0 * (i / columns);
    const double x = 5.0 * (i % columns);
    const double rest = (i / columns + i % columns) % 2 == 0 ? rest_px : -rest_px;
    given.insert(given.end(), {y, x});
    displacement.insert(displacement.end(),
                        {1 + 0.02 * y - 0.01 * x + rest, -2 + 0.03 * y + 0.05 * x - rest});
  }
  const auto on_device = [&](const std::vector<double>& values) {
    return device::to_device<DeviceView<double* [2]>>("values", values.data(),
                                                      DeviceView<double* [2]>::array_layout(n));
  };
  const DeviceView<double*> sums("sums", ScanFrame::n_sums);
  const Device exec;
  ScanFrame frame{};
  frame.given = on_device(given);
  frame.displacement = on_device(displacement);
  frame.add_up(exec, sums);
  exec.fence();
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sums);
  return fitted_motion({host.data(), host.size()});
}

TEST(ScanFrame, TellsTheMapOfAScanFromWhatItLeaves) {
  const FrameMotion motion = found_in(4, 4);
  EXPECT_NEAR(motion.matrix[0][0], 0.02, 1e-12);
  EXPECT_NEAR(motion.matrix[0][1], -0.01, 1e-12);
  EXPECT_NEAR(motion.matrix[1][0], 0.03, 1e-12);
  EXPECT_NEAR(motion.matrix[1][1], 0.05, 1e-12);
  EXPECT_NEAR(motion.mean.y, 1 + 0.02 * 10.5 - 0.01 * 7.5, 1e-12);
  EXPECT_NEAR(motion.rest_px, rest_px, 1e-12);
}

TEST(ScanFrame, LeavesAllButTheMeanOfALine) {
  const FrameMotion motion = found_in(1, 2);
  EXPECT_EQ(motion.matrix[0][1], 0);
  // Two positions, 0.65 and 0.85 px apart along y and x.
  EXPECT_NEAR(2 * motion.rest_px * motion.rest_px, 0.325 * 0.325 + 0.425 * 0.425, 1e-12);
}

}  // namespace
}  // namespace tessera::solvers

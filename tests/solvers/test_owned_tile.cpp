#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "solvers/owned_tile.hpp"

namespace tessera::solvers {
namespace {

using Visits = device::DeviceView<int***>;

const Box ghosted{{3, 5}, {40, 155}};  // 3 x 3 blocks, the last of them cut
const Box owned{{10, 20}, {31, 130}};
constexpr int n_planes = 2;

Visits no_visits() {
  return Visits("visits", n_planes, ghosted.height(), ghosted.width());
}

Visits visit_touched(const std::vector<int>& blocks) {
  const device::Device exec;
  const device::DeviceView<int*> number("blocks", blocks.size());
  Kokkos::deep_copy(number, device::HostView<const int*>(blocks.data(), blocks.size()));
  const Visits visits = no_visits();
  for_each_touched_pixel(
      exec, "tessera::solvers::count_touched", n_planes,
      {number.data(), static_cast<int>(blocks.size())}, OwnedTile(ghosted, owned),
      KOKKOS_LAMBDA(const int plane, const int y, const int x) {
        Kokkos::atomic_add(&visits(plane, y, x), 1);
      });
  exec.fence();
  return visits;
}

Visits visit_owned() {
  const device::Device exec;
  const Visits visits = no_visits();
  for_each_owned_pixel(
      exec, "tessera::solvers::count_owned", n_planes, OwnedTile(ghosted, owned),
      KOKKOS_LAMBDA(const int plane, const int y, const int x) {
        Kokkos::atomic_add(&visits(plane, y, x), 1);
      });
  exec.fence();
  return visits;
}

/// `expected(y, x)` visits of every plane's pixel (y, x) of the ghosted box.
template <class Expected>
void expect_visits(const Visits& visits, const Expected& expected) {
  const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), visits);
  for (int plane = 0; plane < n_planes; ++plane)
    for (int y = 0; y < ghosted.height(); ++y)
      for (int x = 0; x < ghosted.width(); ++x)
        ASSERT_EQ(found(plane, y, x), expected(y, x)) << plane << ", " << y << ", " << x;
}

// A compiler that drops what a kernel calls (nvcc without --expt-relaxed-constexpr) makes kernels
// that do nothing, and warns at most.
TEST(OwnedTile, KernelsVisitEveryPixelOfTouchedBlocksOnce) {
  const std::vector<int> blocks{0, 4, 5, 8};
  expect_visits(visit_touched(blocks), [&](int y, int x) {
    return static_cast<int>(std::ranges::count(blocks, y / 16 * 3 + x / 64));
  });
}

TEST(OwnedTile, KernelsVisitEveryOwnedPixelOnce) {
  expect_visits(visit_owned(),
                [](int y, int x) { return y >= 7 && y < 28 && x >= 15 && x < 125 ? 1 : 0; });
}

}  // namespace
}  // namespace tessera::solvers

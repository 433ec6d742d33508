#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "decomposition/batch_size.hpp"
#include "decomposition/random_scans.hpp"

namespace tessera::decomposition {
namespace {

using testing::random_scan;
using testing::RandomScan;

std::vector<int> all_positions(const geometry::WindowGrid& grid) {
  std::vector<int> positions(grid.corner.size());
  std::iota(positions.begin(), positions.end(), 0);
  return positions;
}

std::int64_t counted_pixels(const geometry::WindowGrid& grid) {
  std::vector<bool> covered(static_cast<std::size_t>(grid.object.size()));
  for (const Pixel& corner : grid.corner)
    for (int y = corner.y; y < corner.y + grid.window.h; ++y)
      for (int x = corner.x; x < corner.x + grid.window.w; ++x)
        covered[static_cast<std::size_t>(y) * grid.object.w + x] = true;
  return std::count(covered.begin(), covered.end(), true);
}

TEST(CoveredPixels, AreThoseOfAnyWindow) {
  for (std::uint64_t seed = 0; seed < testing::n_random_scans; ++seed) {
    const RandomScan scan = random_scan(seed);
    ASSERT_EQ(covered_pixels(scan.grid.corner, scan.grid.window), counted_pixels(scan.grid))
        << scan.name;
  }
}

TEST(BatchSize, IsTheFewestPositionsOfTheCoverage) {
  for (std::uint64_t seed = 0; seed < testing::n_random_scans; ++seed) {
    const auto& [name, grid, n_tiles] = random_scan(seed);
    const auto n = static_cast<int>(grid.corner.size());
    const auto covered = static_cast<double>(counted_pixels(grid));
    for (const double coverage : {0.001, 0.7, 2.0, 1e6}) {
      const int size = batch_size_of(coverage, covered_windows(grid.corner, grid.window), n);
      ASSERT_TRUE(size >= 1 && size <= n) << name;
      const auto window_pixels = static_cast<double>(grid.window.size());
      if (size < n) {
        ASSERT_GE(size * window_pixels, coverage * covered) << name;
      }
      if (size > 1) {
        ASSERT_LT((size - 1) * window_pixels, coverage * covered) << name;
      }
    }
  }
}

/// 22 x 22 windows side by side hold 484 windows' pixels; 10 x 10 at half a window 5.5^2.
TEST(BatchSize, ByHand) {
  const Shape2 window{16, 16};
  const auto raster = [&](int n, double step) {
    return geometry::lay_windows(geometry::raster_scan(n, n, {step, step}), window, 1.0).corner;
  };
  const auto size_of = [&](double coverage, const std::vector<Pixel>& corner) {
    return batch_size_of(coverage, covered_windows(corner, window),
                         static_cast<int>(corner.size()));
  };
  EXPECT_EQ(size_of(0.5, raster(22, 16)), 242);
  EXPECT_EQ(size_of(2, raster(22, 16)), 484);
  EXPECT_EQ(size_of(2, raster(10, 8)), 61);  // of 60.5
  // Turned by 45 degrees the box of the object is twice as large, what is covered is not.
  const auto turned = geometry::raster_scan(40, 40, {8, 8}, std::acos(-1.0) / 4);
  EXPECT_NEAR(size_of(2, geometry::lay_windows(turned, window, 1.0).corner),
              size_of(2, raster(40, 8)), 30);
}

/// Of the pairs of a batch and a rank with positions: those without one of the batch.
double counted_idle_share(const BatchSchedule& schedule, const Tiling& tiling) {
  double n_idle = 0;
  double n_pairs = 0;
  for (const Tile& tile : tiling.tiles) {
    if (tile.positions.empty()) continue;
    const std::set<int> mine(tile.positions.begin(), tile.positions.end());
    for (int batch = 0; batch < schedule.n_batches(); ++batch, ++n_pairs) {
      const auto positions = schedule.batch(batch);
      n_idle += std::ranges::none_of(positions, [&](int p) { return mine.contains(p); });
    }
  }
  return n_idle / n_pairs;
}

TEST(IdleShare, CountsRanksWithoutAPositionOfTheBatch) {
  for (std::uint64_t seed = 0; seed < testing::n_random_scans; ++seed) {
    const auto& [name, grid, n_tiles] = random_scan(seed);
    const Tiling tiling = make_tiling(grid.object, grid.window, grid.corner, n_tiles);
    const int batch_size = 1 + static_cast<int>(random_bits(seed, 77) % grid.corner.size());
    for (const BatchOrder order : {BatchOrder::spread, BatchOrder::random, BatchOrder::compact}) {
      const BatchSchedule schedule(all_positions(grid), grid.corner, batch_size, order, seed);
      ASSERT_DOUBLE_EQ(idle_share(schedule, tiling, grid.corner),
                       counted_idle_share(schedule, tiling))
          << name;
    }
    const BatchSchedule whole(all_positions(grid), grid.corner, 0, BatchOrder::spread, seed);
    ASSERT_EQ(idle_share(whole, tiling, grid.corner), 0) << name;
  }
}

/// Windows of 64 pixels every 6: the batches of 256 x 256 positions keep hundreds of ranks busy,
/// where 32 positions keep 32.
TEST(IdleShare, BatchesGrowWithTheScan) {
  const auto positions = geometry::raster_scan(256, 256, {6, 6});
  const geometry::WindowGrid grid = geometry::lay_windows(positions, {64, 64}, 1.0);
  const Tiling tiling = make_tiling(grid.object, grid.window, grid.corner, 512);
  const auto share = [&](int batch_size) {
    return idle_share({all_positions(grid), grid.corner, batch_size, BatchOrder::spread, 1}, tiling,
                      grid.corner);
  };
  EXPECT_LT(share(batch_size_of(2, covered_windows(grid.corner, grid.window), 256 * 256)), 0.02);
  EXPECT_GT(share(32), 0.9);
}

}  // namespace
}  // namespace tessera::decomposition

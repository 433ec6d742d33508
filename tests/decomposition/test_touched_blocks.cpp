#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "tessera/decomposition/tiles.hpp"
#include "tessera/decomposition/touched_blocks.hpp"

#include "decomposition/random_scans.hpp"
#include "support/allocations.hpp"

namespace tessera::decomposition {
namespace {

std::vector<int> every(int n, int step, int first) {
  std::vector<int> positions;
  for (int i = first; i < n; i += step) positions.push_back(i);
  return positions;
}

/// By looking at every pixel of every window.
std::set<int> blocks_by_pixels(const Box& ghosted, const geometry::WindowGrid& grid,
                               const std::vector<int>& positions) {
  const int columns = (ghosted.width() + 63) / 64;
  std::set<int> blocks;
  for (const int i : positions)
    for (int y = 0; y < grid.window.h; ++y)
      for (int x = 0; x < grid.window.w; ++x) {
        const Pixel at{grid.corner[i].y + y, grid.corner[i].x + x};
        if (ghosted.contains(at))
          blocks.insert((at.y - ghosted.begin.y) / 16 * columns + (at.x - ghosted.begin.x) / 64);
      }
  return blocks;
}

TEST(TouchedBlocks, AreThoseThatHoldAPixelOfAnyWindowOfTheBatch) {
  constexpr int n_batches = 3;
  for (std::uint64_t seed = 0; seed < 90; ++seed) {
    const testing::RandomScan scan = testing::random_scan(seed);
    const int n = static_cast<int>(scan.grid.corner.size());
    const Tiling tiling = make_tiling(scan.grid.object, scan.grid.window, scan.grid.corner,
                                      std::min(scan.n_tiles, 5));
    for (const Tile& tile : tiling.tiles) {
      TouchedBlocks touched(tile.ghosted, scan.grid.window, scan.grid.corner);
      touched.reserve(static_cast<std::size_t>(n_batches * BlockGrid{tile.ghosted.shape()}.size()));
      int begin = 0;
      for (int batch = 0; batch < n_batches; ++batch) {
        const std::vector<int> positions = every(n, n_batches, batch);
        const int before = testing::n_allocations();
        const int count = touched.add_batch(positions);
        EXPECT_EQ(testing::n_allocations(), before) << scan.name;
        const auto blocks = touched.blocks().subspan(begin, count);
        begin += count;
        const std::set<int> distinct(blocks.begin(), blocks.end());
        EXPECT_EQ(distinct.size(), blocks.size()) << scan.name;
        EXPECT_EQ(distinct, blocks_by_pixels(tile.ghosted, scan.grid, positions)) << scan.name;
      }
      EXPECT_EQ(touched.blocks().size(), static_cast<std::size_t>(begin));
    }
  }
}

TEST(TouchedBlocks, ATileWithoutPixelsHasNone) {
  const std::vector<Pixel> corner{{0, 0}, {5, 5}};
  TouchedBlocks touched({}, {8, 8}, corner);
  EXPECT_EQ(touched.add_batch(std::vector{0, 1}), 0);
}

}  // namespace
}  // namespace tessera::decomposition

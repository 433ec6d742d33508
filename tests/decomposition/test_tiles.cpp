#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/base/error.hpp"
#include "tessera/base/image_stack.hpp"
#include "tessera/decomposition/tiles.hpp"

#include "decomposition/random_scans.hpp"

namespace tessera::decomposition {
namespace {

using tessera::testing::n_random_scans;
using tessera::testing::random_scan;
using tessera::testing::RandomScan;
using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using ::testing::SizeIs;

Tiling tiling_of(const RandomScan& scan) {
  return make_tiling(scan.grid.object, scan.grid.window, scan.grid.corner, scan.n_tiles);
}

void expect_owned_boxes_partition_the_object(const Tiling& tiling) {
  ImageStack<int> owners(1, tiling.object);
  for (const Tile& tile : tiling.tiles) {
    if (tile.owned.empty()) continue;
    ASSERT_TRUE(Box::at({0, 0}, tiling.object).contains(tile.owned)) << tile.owned;
    for (int y = tile.owned.begin.y; y < tile.owned.end.y; ++y) {
      for (int x = tile.owned.begin.x; x < tile.owned.end.x; ++x) ++owners(0, y, x);
    }
  }
  EXPECT_TRUE(std::all_of(owners.begin(), owners.end(), [](int n) { return n == 1; }));
}

void expect_every_position_has_one_tile(const Tiling& tiling, std::size_t n_positions) {
  std::vector<int> count(n_positions, 0);
  for (const Tile& tile : tiling.tiles) {
    EXPECT_TRUE(std::is_sorted(tile.positions.begin(), tile.positions.end()));
    for (const int i : tile.positions) ++count.at(i);
  }
  EXPECT_TRUE(std::all_of(count.begin(), count.end(), [](int n) { return n == 1; }));
}

TEST(Tiles, OwnedBoxesPartitionTheObject) {
  for (std::uint64_t seed = 0; seed < n_random_scans; ++seed) {
    const RandomScan scan = random_scan(seed);
    SCOPED_TRACE(scan.name);
    const Tiling tiling = tiling_of(scan);
    EXPECT_EQ(std::ssize(tiling.tiles), scan.n_tiles);
    expect_owned_boxes_partition_the_object(tiling);
    expect_every_position_has_one_tile(tiling, scan.grid.corner.size());
  }
}

/// The same cuts tell the tile of a position without any list.
TEST(Tiles, CutsTellTheTileOfEveryPosition) {
  for (std::uint64_t seed = 0; seed < n_random_scans; ++seed) {
    const RandomScan scan = random_scan(seed);
    SCOPED_TRACE(scan.name);
    const Tiling tiling = tiling_of(scan);
    const std::vector<int> tile_of = tile_of_positions(tiling, scan.grid.corner);
    for (int t = 0; t < scan.n_tiles; ++t) {
      EXPECT_EQ(tiling.tiles[t].n_positions, std::ssize(tiling.tiles[t].positions));
      for (const int i : tiling.tiles[t].positions) EXPECT_EQ(tile_of[i], t);
    }
    const int only = scan.n_tiles / 2;
    const Tiling listed = make_tiling(scan.grid.object, scan.grid.window, scan.grid.corner,
                                      scan.n_tiles, {}, 0, only);
    for (int t = 0; t < scan.n_tiles; ++t) {
      EXPECT_EQ(listed.tiles[t].n_positions, tiling.tiles[t].n_positions);
      EXPECT_EQ(listed.tiles[t].positions,
                t == only ? tiling.tiles[t].positions : std::vector<int>());
    }
  }
}

/// Against a sort.
TEST(Tiles, ASplitKeepsTheOrderOfBothSides) {
  PositionSplit split;
  for (std::uint64_t seed = 0; seed < n_random_scans; ++seed) {
    const RandomScan scan = random_scan(seed);
    SCOPED_TRACE(scan.name);
    const std::vector<Pixel>& corner = scan.grid.corner;
    const bool along_y = seed % 2 == 0;
    std::vector<int> positions;
    for (int i = 0; i < std::ssize(corner); i += 1 + static_cast<int>(seed % 3))
      positions.push_back(i);
    std::vector<int> sorted = positions;
    std::ranges::sort(sorted, {}, [&](int i) {
      const auto [y, x] = corner[i];
      return along_y ? std::tuple(y, x, i) : std::tuple(x, y, i);
    });
    const std::size_t n_first = random_bits(seed, 5) % (sorted.size() + 1);
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(n_first);
    std::sort(sorted.begin(), middle);
    std::sort(middle, sorted.end());
    const PositionCut cut = split.split(positions, n_first, corner, along_y);
    EXPECT_EQ(positions, sorted);
    for (std::size_t j = 0; j < positions.size(); ++j)
      EXPECT_EQ(cut.is_before(corner[positions[j]], positions[j]), j < n_first);
  }
}

TEST(Tiles, GhostedIsTheHullOfOwnedAndWindows) {
  for (std::uint64_t seed = 0; seed < n_random_scans; ++seed) {
    const RandomScan scan = random_scan(seed);
    for (const Tile& tile : tiling_of(scan).tiles) {
      std::vector<Box> held{tile.owned};
      for (const int i : tile.positions) {
        held.push_back(Box::at(scan.grid.corner[i], scan.grid.window));
      }
      std::erase_if(held, [](const Box& box) { return box.empty(); });
      if (held.empty()) {
        EXPECT_TRUE(tile.ghosted.empty()) << scan.name;
        continue;
      }
      Box expected = held.front();
      for (const Box& box : held) {
        expected.begin.y = std::min(expected.begin.y, box.begin.y);
        expected.begin.x = std::min(expected.begin.x, box.begin.x);
        expected.end.y = std::max(expected.end.y, box.end.y);
        expected.end.x = std::max(expected.end.x, box.end.x);
      }
      EXPECT_EQ(tile.ghosted, expected) << scan.name;
    }
  }
}

TEST(Tiles, AMarginGrowsGhostedBoxesAloneAndStaysInTheObject) {
  for (std::uint64_t seed = 0; seed < n_random_scans; ++seed) {
    const RandomScan scan = random_scan(seed);
    const int margin_px = 1 + static_cast<int>(seed % 5);
    const Tiling plain = tiling_of(scan);
    const Tiling wide = make_tiling(scan.grid.object, scan.grid.window, scan.grid.corner,
                                    scan.n_tiles, {}, margin_px);
    for (std::size_t i = 0; i < plain.tiles.size(); ++i) {
      EXPECT_EQ(wide.tiles[i].owned, plain.tiles[i].owned) << scan.name;
      EXPECT_EQ(wide.tiles[i].positions, plain.tiles[i].positions) << scan.name;
      const Box& held = plain.tiles[i].ghosted;
      const Box expected{
          {std::max(0, held.begin.y - margin_px), std::max(0, held.begin.x - margin_px)},
          {std::min(scan.grid.object.h, held.end.y + margin_px),
           std::min(scan.grid.object.w, held.end.x + margin_px)}};
      EXPECT_EQ(wide.tiles[i].ghosted, held.empty() ? held : expected) << scan.name;
    }
  }
}

TEST(Tiles, EqualCostsBalanceToOnePosition) {
  for (std::uint64_t seed = 0; seed < n_random_scans; ++seed) {
    const RandomScan scan = random_scan(seed);
    const int floor = static_cast<int>(std::ssize(scan.grid.corner)) / scan.n_tiles;
    for (const Tile& tile : tiling_of(scan).tiles) {
      EXPECT_GE(std::ssize(tile.positions), floor) << scan.name;
      EXPECT_LE(std::ssize(tile.positions), floor + 1) << scan.name;
    }
  }
}

TEST(Tiles, GridsKeepAllTheseProperties) {
  for (std::uint64_t seed = 0; seed < n_random_scans; ++seed) {
    const RandomScan scan = random_scan(seed);
    const TileGrid grid{1 + static_cast<int>(seed % 5), 1 + static_cast<int>(seed % 7)};
    SCOPED_TRACE(text(scan.name, ", grid ", grid.rows, " x ", grid.columns));
    const int n_tiles = grid.rows * grid.columns;
    const Tiling tiling =
        make_tiling(scan.grid.object, scan.grid.window, scan.grid.corner, n_tiles, grid);
    ASSERT_EQ(std::ssize(tiling.tiles), n_tiles);
    expect_owned_boxes_partition_the_object(tiling);
    expect_every_position_has_one_tile(tiling, scan.grid.corner.size());
    const int floor = static_cast<int>(std::ssize(scan.grid.corner)) / n_tiles;
    for (int t = 0; t < n_tiles; ++t) {
      const Tile& first_of_row = tiling.tiles[t - t % grid.columns];
      EXPECT_EQ(tiling.tiles[t].owned.begin.y, first_of_row.owned.begin.y);
      EXPECT_EQ(tiling.tiles[t].owned.end.y, first_of_row.owned.end.y);
      EXPECT_GE(std::ssize(tiling.tiles[t].positions), floor);
      EXPECT_LE(std::ssize(tiling.tiles[t].positions), floor + 1);
    }
  }
}

/// 4 x 4 windows of 20 pixels, 10 apart: an object of 50 x 50.
std::vector<Pixel> small_raster() {
  std::vector<Pixel> corner;
  for (int i = 0; i < 16; ++i) corner.push_back({10 * (i / 4), 10 * (i % 4)});
  return corner;
}

TEST(Tiles, FourOnASquareRasterAreItsQuarters) {
  const Tiling tiling = make_tiling({50, 50}, {20, 20}, small_raster(), 4);
  // Between the centres at 20 and 30.
  EXPECT_EQ(tiling.tiles[0].owned, (Box{{0, 0}, {25, 25}}));
  EXPECT_EQ(tiling.tiles[1].owned, (Box{{0, 25}, {25, 50}}));
  EXPECT_EQ(tiling.tiles[2].owned, (Box{{25, 0}, {50, 25}}));
  EXPECT_EQ(tiling.tiles[3].owned, (Box{{25, 25}, {50, 50}}));
  EXPECT_THAT(tiling.tiles[1].positions, ElementsAre(2, 3, 6, 7));
  EXPECT_EQ(tiling.tiles[1].ghosted, (Box{{0, 20}, {30, 50}}));
}

TEST(Tiles, AGridMakesRowsOrColumns) {
  const Tiling rows = make_tiling({50, 50}, {20, 20}, small_raster(), 4, TileGrid{4, 1});
  const Tiling columns = make_tiling({50, 50}, {20, 20}, small_raster(), 4, TileGrid{1, 4});
  EXPECT_EQ(rows.tiles[1].owned, (Box{{15, 0}, {25, 50}}));
  EXPECT_EQ(columns.tiles[1].owned, (Box{{0, 15}, {50, 25}}));
  EXPECT_THAT(rows.tiles[1].positions, ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(columns.tiles[1].positions, ElementsAre(1, 5, 9, 13));
}

/// With `n_more` further positions in the place of position i.
std::vector<Pixel> with_crowd_at(int i, int n_more) {
  std::vector<Pixel> corner = small_raster();
  corner.insert(corner.end(), n_more, corner[i]);
  return corner;
}

TEST(Tiles, APlaceOfManyPositionsGetsASmallTile) {
  std::vector<Pixel> corner = with_crowd_at(0, 6);
  corner.insert(corner.end(), 6, corner[1]);  // half of the work in the first two places
  const Tiling tiling = make_tiling({50, 50}, {20, 20}, corner, 2);
  for (const int i : tiling.tiles[0].positions) EXPECT_LE(corner[i].x, 10) << i;
  EXPECT_THAT(tiling.tiles[0].positions, SizeIs(14));
  EXPECT_THAT(tiling.tiles[0].positions, IsSupersetOf({0, 1}));
}

TEST(Tiles, NoTileIdlesWhilePositionsAreEnough) {
  for (const int crowded : {0, 7, 15}) {
    const std::vector<Pixel> corner = with_crowd_at(crowded, 16);
    for (const int n_tiles : {16, 32})
      for (const Tile& tile : make_tiling({50, 50}, {20, 20}, corner, n_tiles).tiles)
        EXPECT_EQ(tile.positions.size(), 32u / n_tiles);
  }
}

TEST(Tiles, PositionsMayLieBeyondTheirBox) {
  // The first cut leaves it to the second side, [20:60], and goes by area; the next must stay in
  // that box.
  const std::vector<Pixel> corner{{0, 0}};
  const Tiling tiling = make_tiling({4, 60}, {4, 4}, corner, 3);
  expect_owned_boxes_partition_the_object(tiling);
  expect_every_position_has_one_tile(tiling, 1);
  EXPECT_EQ(tiling.tiles[0].owned, (Box{{0, 0}, {4, 20}}));
  EXPECT_EQ(tiling.tiles[1].owned, (Box{{0, 20}, {4, 40}}));
}

TEST(Tiles, NoPositionsAreCutByArea) {
  const Tiling tiling = make_tiling({30, 60}, {4, 4}, {}, 3);
  for (const Tile& tile : tiling.tiles) {
    EXPECT_EQ(tile.owned.area(), 600);
    EXPECT_EQ(tile.ghosted, tile.owned);
  }
}

TEST(Tiles, AGridOfTheWrongSizeNamesTheRemedy) {
  try {
    make_tiling({50, 50}, {20, 20}, small_raster(), 4, TileGrid{2, 3});
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "decomposition.tiles = [2, 3] makes 6 tiles but the job has 4 ranks; "
                 "use tiles = \"auto\" or start 6 ranks");
  }
  EXPECT_THROW(make_tiling({50, 50}, {20, 20}, small_raster(), 4, TileGrid{-2, -2}), InputError);
}

TEST(Tiles, RefuseWindowsOutsideTheObject) {
  EXPECT_THROW(make_tiling({49, 50}, {20, 20}, small_raster(), 2), std::invalid_argument);
  EXPECT_THROW(make_tiling({50, 50}, {20, 20}, small_raster(), 0), std::invalid_argument);
  EXPECT_THROW(make_tiling({50, 50}, {20, 20}, small_raster(), 2, {}, -1), std::invalid_argument);
}

}  // namespace
}  // namespace tessera::decomposition

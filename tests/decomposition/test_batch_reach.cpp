// What is near, looked up and laid out, against all windows of the scan.

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "tessera/decomposition/batch_reach.hpp"

#include "decomposition/random_scans.hpp"
#include "decomposition/window_index.hpp"
#include "support/allocations.hpp"

namespace tessera::decomposition {
namespace {

std::vector<int> all_of(const geometry::WindowGrid& grid) {
  std::vector<int> all(grid.corner.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<int> reaching(const geometry::WindowGrid& grid, const Box& box) {
  std::vector<int> found;
  for (const int i : all_of(grid))
    if (!intersection(Box::at(grid.corner[i], grid.window), box).empty()) found.push_back(i);
  return found;
}

TEST(WindowIndex, FindsTheWindowsThatReachABox) {
  for (std::uint64_t seed = 0; seed < testing::n_random_scans; ++seed) {
    const auto [name, grid, n_tiles] = testing::random_scan(seed);
    const WindowIndex index(grid.corner, grid.window);
    const Tiling tiling = make_tiling(grid.object, grid.window, grid.corner, n_tiles);
    for (const Tile& tile : tiling.tiles)
      for (const Box& box : {tile.owned, grown(tile.ghosted, 3), Box{}})
        EXPECT_EQ(index.reaching(box), reaching(grid, box)) << name << " " << box;
  }
}

TEST(PositionNumbers, AreThoseOfTheList) {
  const std::vector<int> positions{0, 3, 63, 64, 65, 200};
  const PositionNumbers numbers(positions);
  for (int position = 0; position < 300; ++position) {
    const auto found = std::ranges::find(positions, position);
    EXPECT_EQ(numbers[position], found == positions.end() ? -1 : found - positions.begin());
  }
}

struct Near {
  Near(const geometry::WindowGrid& grid, const Tiling& tiling, const Box& ghosted) {
    windows.window = grid.window;
    windows.positions = reaching(grid, ghosted);
    for (const int i : windows.positions) {
      windows.corner.push_back(grid.corner[i]);
      windows.tile_of.push_back(tiling.tile_of(i, grid.corner[i]));
    }
  }
  NearWindows windows;
};

/// Lists made of the near windows alone are those made of all.
TEST(BatchReach, IsThatOfAllWindows) {
  constexpr BatchOrder orders[] = {BatchOrder::spread, BatchOrder::random, BatchOrder::compact};
  for (std::uint64_t seed = 0; seed < testing::n_random_scans; ++seed) {
    const auto [name, grid, n_tiles] = testing::random_scan(seed);
    SCOPED_TRACE(name);
    const Tiling tiling = make_tiling(grid.object, grid.window, grid.corner, n_tiles);
    const std::vector<int> tile_of = tile_of_positions(tiling, grid.corner);
    const int rank = static_cast<int>(random_bits(seed, 3) % n_tiles);
    const HaloPlan plan = make_halo_plan(tiling, rank);
    const Near near(grid, tiling, plan.ghosted);
    BatchSchedule schedule(all_of(grid), grid.corner, 7, orders[seed % 3], seed);
    BatchReach reach(plan, near.windows, schedule);
    for (int epoch = 0; epoch < 2; ++epoch) {
      schedule.start_epoch(epoch);
      reach.lay_out(schedule);
      TouchedBlocks blocks(plan.ghosted, grid.window, grid.corner);
      BatchHalo halo(plan, {grid.window, grid.corner, tile_of}, schedule.n_batches());
      for (int id = 0; id < schedule.n_batches(); ++id) {
        blocks.add_batch(schedule.batch(id));
        halo.add_batch(schedule.batch(id));
        std::vector<int> members;
        for (const int number : reach.members(id))
          members.push_back(near.windows.positions[number]);
        std::vector<int> expected;
        for (const int position : schedule.batch(id))
          if (std::ranges::binary_search(near.windows.positions, position))
            expected.push_back(position);
        EXPECT_EQ(members, expected);
        EXPECT_EQ(reach.first_block(id + 1), std::ssize(blocks.blocks()));
      }
      EXPECT_TRUE(std::ranges::equal(reach.blocks(), blocks.blocks()));
      EXPECT_TRUE(std::ranges::equal(reach.pieces(), halo.pieces(), {}, &Piece::box, &Piece::box));
    }
  }
}

/// Fixed batches have exactly the room that they need; random ones of a large scan an eighth more,
/// which lasts.
TEST(BatchReach, HasLittleMoreRoomThanItNeeds) {
  const geometry::WindowGrid grid =
      geometry::lay_windows(geometry::raster_scan(64, 64, {5, 5}), {32, 32}, 1);
  const Tiling tiling = make_tiling(grid.object, grid.window, grid.corner, 6);
  const HaloPlan plan = make_halo_plan(tiling, 2);
  const Near near(grid, tiling, plan.ghosted);
  const BatchSchedule fixed(all_of(grid), grid.corner, 64, BatchOrder::spread, 1);
  const BatchReach exact(plan, near.windows, fixed);
  EXPECT_EQ(exact.block_room(), exact.blocks().size());
  EXPECT_EQ(exact.piece_room(), exact.pieces().size());

  BatchSchedule random(all_of(grid), grid.corner, 64, BatchOrder::random, 1);
  BatchReach reach(plan, near.windows, random);
  const std::size_t room = reach.block_room();
  EXPECT_LE(static_cast<double>(room), 1.2 * static_cast<double>(reach.blocks().size()));
  const int before = testing::n_allocations();
  for (int epoch = 1; epoch < 20; ++epoch) {
    random.start_epoch(epoch);
    reach.lay_out(random);
  }
  EXPECT_EQ(testing::n_allocations(), before);
  EXPECT_EQ(reach.block_room(), room);
}

}  // namespace
}  // namespace tessera::decomposition

// What the cost model counts of a plan, against plain loops over positions and pixels.

#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "run/rank_plan.hpp"
#include "run/rank_work.hpp"
#include "synthetic_scan.hpp"

namespace tessera::run {
namespace {

constexpr scaling::SyntheticCase small{{6, 7}, 5, 16};
constexpr int n_ranks = 4;
constexpr int batch_size = 14;

struct Counted : ::testing::Test {
  Counted()
      : deck(scaling::synthetic_deck(
            small, {"solver.batch_size=14", "solver.batch_order=spread", "data.subpixel_bins=2"})),
        scan(scaling::lay_out_synthetic_scan(deck, small, alone)),
        planned(scan),
        tiling(decomposition::make_tiling(scan.grid.object, scan.grid.window, scan.corner(),
                                          n_ranks)) {}

  std::vector<cost::BatchWork> work(int rank) const {
    const decomposition::HaloPlan plan = make_halo_plan(tiling, rank);
    const decomposition::NearWindows near = planned.windows().near(tiling, rank);
    return work_of_rank(scan, plan, near, planned.reach(plan, near, 0), n_batches, false);
  }

  const comm::Communicator alone{MPI_COMM_SELF};
  const deck::Deck deck;
  const Scan scan;
  const PlannedBatches planned;
  const decomposition::Tiling tiling;
  const decomposition::BatchSchedule batches{scan.fitted(),
                                             scan.grid.corner,
                                             batch_size,
                                             decomposition::BatchOrder::spread,
                                             deck.solvers.front().seed,
                                             scan.subpixel_bin};
  const int n_batches = batches.n_batches();
};

TEST_F(Counted, EveryPositionIsOnTheBorderWhereItsWindowLeavesTheTile) {
  ASSERT_EQ(n_batches, 3);
  for (int rank = 0; rank < n_ranks; ++rank) {
    const decomposition::Tile& tile = tiling.tiles[static_cast<std::size_t>(rank)];
    const std::vector<cost::BatchWork> counted = work(rank);
    for (int id = 0; id < n_batches; ++id) {
      int border = 0;
      int interior = 0;
      for (const int position : batches.batch(id)) {
        const Pixel corner = scan.corner()[static_cast<std::size_t>(position)];
        if (tiling.tile_of(position, corner) != rank) continue;
        bool leaves = false;
        for (int y = 0; y < small.window_px; ++y)
          for (int x = 0; x < small.window_px; ++x)
            leaves |= !tile.owned.contains(corner + Pixel{y, x});
        ++(leaves ? border : interior);
      }
      EXPECT_EQ(counted[static_cast<std::size_t>(id)].border, border) << rank << " " << id;
      EXPECT_EQ(counted[static_cast<std::size_t>(id)].interior, interior) << rank << " " << id;
    }
  }
}

/// As many as there are shifts in a chunk, of positions of one rank and batch; with room for all
/// bins there is one chunk and every shift is made once.
TEST_F(Counted, ShiftedProbesAreThoseOfDistinctShifts) {
  ASSERT_TRUE(scan.on_device.has_subpixel);
  for (int rank = 0; rank < n_ranks; ++rank) {
    const std::vector<cost::BatchWork> counted = work(rank);
    for (int id = 0; id < n_batches; ++id) {
      std::set<std::pair<double, double>> shifts;
      for (const int position : batches.batch(id))
        if (tiling.tile_of(position, scan.corner()[static_cast<std::size_t>(position)]) == rank)
          shifts.emplace(scan.subpixel[static_cast<std::size_t>(position)].y,
                         scan.subpixel[static_cast<std::size_t>(position)].x);
      EXPECT_EQ(counted[static_cast<std::size_t>(id)].shifts, std::ssize(shifts))
          << rank << " " << id;
    }
  }
}

TEST_F(Counted, TouchedPixelsAreThoseOfBlocksThatWindowsReach) {
  for (int rank = 0; rank < n_ranks; ++rank) {
    const Box& ghosted = tiling.tiles[static_cast<std::size_t>(rank)].ghosted;
    const std::vector<cost::BatchWork> counted = work(rank);
    for (int id = 0; id < n_batches; ++id) {
      std::int64_t n = 0;
      for (int y = ghosted.begin.y; y < ghosted.end.y; y += decomposition::BlockGrid::block.h)
        for (int x = ghosted.begin.x; x < ghosted.end.x; x += decomposition::BlockGrid::block.w) {
          const Box block = intersection(Box::at({y, x}, decomposition::BlockGrid::block), ghosted);
          bool touched = false;
          for (const int position : batches.batch(id))
            touched |= !intersection(Box::at(scan.corner()[static_cast<std::size_t>(position)],
                                             scan.grid.window),
                                     block)
                            .empty();
          n += touched ? block.area() : 0;
        }
      EXPECT_EQ(counted[static_cast<std::size_t>(id)].touched_px, n) << rank << " " << id;
    }
  }
}

TEST_F(Counted, BytesAreThoseOfThePlan) {
  std::int64_t bytes = 0;
  for (int rank = 0; rank < n_ranks; ++rank)
    for (const cost::BatchWork& batch : work(rank)) bytes += batch.sum_bytes + batch.value_bytes;
  EXPECT_GT(bytes, 0);
  EXPECT_EQ(bytes, plan_for_ranks(deck, scan, planned, n_ranks).halo_bytes);
}

}  // namespace
}  // namespace tessera::run

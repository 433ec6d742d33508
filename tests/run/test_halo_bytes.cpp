// What an epoch sends, against a count of the ghosts that every batch paints.

#include <array>
#include <numeric>

#include <gtest/gtest.h>

#include "tessera/base/image_stack.hpp"

#include "run/rank_plan.hpp"
#include "run/run.hpp"
#include "simulation/simulation.hpp"
#include "support/deck_text.hpp"

namespace tessera::run {
namespace {

using testing::world;

/// Bytes that all ranks send in `epoch` of rpie: three Reals of sums for every ghost that a window
/// of its holder's positions reaches, two of the object for every ghost that any window reaches.
double counted_bytes(const Scan& scan, decomposition::BatchSchedule batches, int epoch) {
  const std::vector<int> tile_of = decomposition::tile_of_positions(scan.tiling, scan.corner());
  batches.start_epoch(epoch);
  std::int64_t n_reals = 0;
  for (int id = 0; id < batches.n_batches(); ++id)
    for (std::size_t rank = 0; rank < scan.tiling.tiles.size(); ++rank) {
      ImageStack<int> reached(1, scan.grid.object);
      for (const int position : batches.batch(id)) {
        const Box window = Box::at(scan.corner()[position], scan.grid.window);
        const bool is_own = tile_of[position] == static_cast<int>(rank);
        for (int y = window.begin.y; y < window.end.y; ++y)
          for (int x = window.begin.x; x < window.end.x; ++x) reached(0, y, x) |= is_own ? 3 : 1;
      }
      const decomposition::Tile& tile = scan.tiling.tiles[rank];
      for (int y = tile.ghosted.begin.y; y < tile.ghosted.end.y; ++y)
        for (int x = tile.ghosted.begin.x; x < tile.ghosted.end.x; ++x)
          if (!tile.owned.contains(Pixel{y, x}))
            n_reals += (reached(0, y, x) & 1 ? 2 : 0) + (reached(0, y, x) & 2 ? 3 : 0);
    }
  return static_cast<double>(n_reals) * sizeof(Real);
}

class HaloBytes : public ::testing::TestWithParam<const char*> {};

TEST_P(HaloBytes, OfAnEpochAreThoseOfTheGhostsThatItsBatchesReach) {
  const testing::SharedFolder folder("halo_bytes");
  const deck::Deck deck = testing::parsed(
      folder.path(),
      {text("solver.batch_order=", GetParam()), "solver.batch_size=5", "data.subpixel=false"});
  simulation::simulate(deck, world(), Log(false));
  run::Run run(deck, world(), Log(false));
  const decomposition::BatchSchedule batches(run.scan().fitted(), run.scan().grid.corner, 5,
                                             decomposition::batch_order_from(GetParam()),
                                             deck.solvers.front().seed);
  const double planned = static_cast<double>(
      plan_for_ranks(deck, run.scan(), PlannedBatches(run.scan()), world().size()).halo_bytes);
  EXPECT_EQ(planned, counted_bytes(run.scan(), batches, 0));
  double before = 0;
  for (int epoch = 0; epoch < 3; ++epoch) {
    run.run_epoch();
    std::array<double, 1> sent{run.times().halo_bytes};
    world().sum(sent);
    EXPECT_EQ(sent[0] - before, counted_bytes(run.scan(), batches, epoch));
    before = sent[0];
  }
  EXPECT_EQ(before > 0, world().size() > 1);
}

INSTANTIATE_TEST_SUITE_P(Orders, HaloBytes, ::testing::Values("spread", "random", "compact"),
                         [](const auto& shown) { return std::string(shown.param); });

}  // namespace
}  // namespace tessera::run

// Positions that drift out of their tiles: new tiles are cut, and nothing else changes.

#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "run/run.hpp"
#include "simulation/simulation.hpp"
#include "support/deck_text.hpp"
#include "support/same_answer.hpp"

namespace tessera::run {
namespace {

using testing::relative_difference;
using testing::world;

/// Large steps from wrong positions make much of rounding; in
/// double precision the same growth leaves 1e-9.
constexpr double tolerance = sizeof(Real) == 4 ? 2e-3 : 1e-9;
constexpr int n_epochs = 8;

/// Positions are wrong by pixels, and half a pixel an epoch is what they may move.
deck::Deck drifting(const std::filesystem::path& folder, const std::string& margin_px) {
  return testing::parsed(
      folder,
      {"simulation.position_error_px=6", "simulation.step_m=60e-9", "solver.method=lsqml",
       "solver.momentum=0", "solver.object_step=0.5", "solver.probe_step=0.5", "solver.epochs=8",
       "refine.positions_from_epoch=0", "refine.positions_step=4", "refine.positions_limit_px=8",
       "refine.positions_expected_px=0", "refine.positions_margin_px=" + margin_px});
}

/// Positions of this rank that another had at first, summed over all ranks. Collective.
double n_moved_here(std::span<const int> first, std::span<const int> now) {
  std::array<double, 1> n{};
  for (const int position : now) n[0] += std::ranges::binary_search(first, position) ? 0 : 1;
  world().sum(n);
  return n[0];
}

TEST(NewTiles, PositionsMoveToTheirRanksAndTheAnswerStays) {
  const testing::SharedFolder folder("new_tiles");
  const deck::Deck deck = drifting(folder.path(), "1");
  simulation::simulate(deck, world(), Log(false));
  auto run = std::make_unique<run::Run>(deck, world(), Log(false));
  const std::vector<int> first = run->scan().tile().positions;
  int n_cuts = 0;
  for (int epoch = 0; epoch < n_epochs; ++epoch) {
    run->run_epoch();
    if (!run->needs_new_tiles()) continue;
    run = run::Run::on_new_tiles(std::move(run), Log(false));
    EXPECT_FALSE(run->needs_new_tiles());
    ++n_cuts;
  }
  EXPECT_GE(n_cuts, 3);
  EXPECT_EQ(run->n_epochs(), n_epochs);
  const double n_moved = n_moved_here(first, run->scan().tile().positions);
  // One rank keeps all, and two tiles may happen to keep theirs.
  if (world().size() > 2) {
    EXPECT_GT(n_moved, 0);
  }

  const deck::Deck wide = drifting(folder.path(), "8");
  const testing::Answer answer = testing::answer_of_one_rank(wide, n_epochs, *run);
  EXPECT_LE(testing::object_difference(*run, answer.object), tolerance);
  EXPECT_LE(testing::worst_ghost(*run, answer.object), 100 * tolerance);
  EXPECT_LE(relative_difference(testing::on_host(run->unknowns().probe), answer.probe), tolerance);
  for (int epoch = 0; epoch < n_epochs; ++epoch) {
    const double expected = answer.history[static_cast<std::size_t>(epoch)].error;
    EXPECT_NEAR(run->history()[static_cast<std::size_t>(epoch)].error / expected, 1, tolerance)
        << "epoch " << epoch;
  }
}

TEST(NewTiles, AreNotDueWhereTheMarginIsTheLimit) {
  const testing::SharedFolder folder("old_tiles");
  const deck::Deck deck = drifting(folder.path(), "8");
  simulation::simulate(deck, world(), Log(false));
  run::Run run(deck, world(), Log(false));
  for (int epoch = 0; epoch < n_epochs; ++epoch) run.run_epoch();
  EXPECT_FALSE(run.needs_new_tiles());
}

}  // namespace
}  // namespace tessera::run

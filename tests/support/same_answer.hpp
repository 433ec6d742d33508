#pragma once
/// N ranks compute what one rank computes: a run on all ranks against the same on one.

#include <array>
#include <string>

#include <gtest/gtest.h>

#include "run/run.hpp"
#include "support/small_scan.hpp"
#include "support/world.hpp"

namespace tessera::testing {

/// What one rank computes, known to every rank.
struct Answer {
  WaveStack object;
  WaveStack probe;
  std::vector<run::EpochFigures> history;
};

inline void share(WaveStack& waves, int n, Shape2 shape) {
  if (!world().is_root()) waves = WaveStack(n, shape);
  world().broadcast(std::span<Complex>(waves.data(), waves.size()));
}

/// Collective.
inline Answer answer_of_one_rank(const deck::Deck& deck, int n_epochs, const run::Run& like) {
  Answer answer;
  answer.history.resize(static_cast<std::size_t>(n_epochs));
  if (world().is_root()) {
    const comm::Communicator alone(MPI_COMM_SELF);
    run::Run run(deck, alone, Log(false));
    for (int epoch = 0; epoch < n_epochs; ++epoch) run.run_epoch();
    answer = {on_host(run.unknowns().object), on_host(run.unknowns().probe), run.history()};
  }
  const run::Scan& scan = like.scan();
  share(answer.object, static_cast<int>(like.unknowns().object.extent(0)), scan.grid.object);
  share(answer.probe, static_cast<int>(like.unknowns().probe.extent(0)), scan.info.pattern);
  world().broadcast(std::span<run::EpochFigures>(answer.history));
  return answer;
}

/// ||this rank's owned pixels - the answer's|| / ||answer||, over all ranks. Collective.
inline double object_difference(const run::Run& run, const WaveStack& expected) {
  const decomposition::Tile& tile = run.scan().tile();
  const WaveStack mine = on_host(run.unknowns().object);
  std::array<double, 2> sums{};
  for (int plane = 0; plane < expected.n(); ++plane)
    for (int y = tile.owned.begin.y; y < tile.owned.end.y; ++y)
      for (int x = tile.owned.begin.x; x < tile.owned.end.x; ++x) {
        const Complex value = mine(plane, y - tile.ghosted.begin.y, x - tile.ghosted.begin.x);
        sums[0] += std::norm(value - expected(plane, y, x));
        sums[1] += std::norm(expected(plane, y, x));
      }
  world().sum(sums);
  return std::sqrt(sums[0] / sums[1]);
}

/// Largest |ghost - answer|: ghosts must be what their owners hold. Collective.
inline double worst_ghost(const run::Run& run, const WaveStack& expected) {
  const Box& ghosted = run.scan().tile().ghosted;
  const WaveStack mine = on_host(run.unknowns().object);
  std::array<double, 1> worst{};
  for (int plane = 0; plane < expected.n(); ++plane)
    for (int y = ghosted.begin.y; y < ghosted.end.y; ++y)
      for (int x = ghosted.begin.x; x < ghosted.end.x; ++x)
        worst[0] =
            std::max(worst[0], std::abs(mine(plane, y - ghosted.begin.y, x - ghosted.begin.x) -
                                        expected(plane, y, x)));
  world().maximum(worst);
  return worst[0];
}

/// @param tolerance of object and probe, relative norm; ghosts a hundred times, pixel by pixel
/// @param error_tolerance of the error of every epoch, relative
inline void expect_same_answer(const deck::Deck& deck, int n_epochs, double tolerance,
                               double error_tolerance) {
  run::Run run(deck, world(), Log(false));
  for (int epoch = 0; epoch < n_epochs; ++epoch) run.run_epoch();
  const Answer answer = answer_of_one_rank(deck, n_epochs, run);
  EXPECT_LE(object_difference(run, answer.object), tolerance);
  EXPECT_LE(worst_ghost(run, answer.object), 100 * tolerance);
  EXPECT_LE(relative_difference(on_host(run.unknowns().probe), answer.probe), tolerance);
  for (int epoch = 0; epoch < n_epochs; ++epoch) {
    const double expected = answer.history[static_cast<std::size_t>(epoch)].error;
    EXPECT_NEAR(run.history()[static_cast<std::size_t>(epoch)].error / expected, 1, error_tolerance)
        << "epoch " << epoch;
  }
}

}  // namespace tessera::testing

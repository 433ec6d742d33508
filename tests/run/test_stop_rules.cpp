// Histories by hand, and what the rules make of them.

#include <csignal>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/base/error.hpp"

#include "stop_rules.hpp"
#include "stop_signals.hpp"

namespace tessera::run {
namespace {

/// Lines of one solver; the error is a tenth of the r_factor.
std::vector<EpochFigures> lines(const std::vector<double>& r_factors, int stage = 0) {
  std::vector<EpochFigures> history;
  history.reserve(r_factors.size());
  for (const double r_factor : r_factors) history.push_back({r_factor / 10, r_factor, stage});
  return history;
}

std::vector<EpochFigures> operator+(std::vector<EpochFigures> a,
                                    const std::vector<EpochFigures>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

deck::Deck deck_of(const std::vector<int>& epochs) {
  deck::Deck deck;
  deck.solvers.resize(epochs.size());
  for (std::size_t i = 0; i < epochs.size(); ++i) deck.solvers[i].epochs = epochs[i];
  return deck;
}

TEST(Stages, FollowOneAnotherWhenTheirEpochsAreDone) {
  const deck::Deck deck = deck_of({2, 3});
  std::vector<EpochFigures> history;
  std::vector<int> stages;
  for (int epoch = 0; epoch < 5; ++epoch) {
    EXPECT_EQ(epochs_left(deck, history), 5 - epoch);
    stages.push_back(stage_of_next_epoch(deck, history));
    history = history + lines({1}, stages.back());
  }
  EXPECT_EQ(stages, (std::vector{0, 0, 1, 1, 1}));
  EXPECT_EQ(stage_of_next_epoch(deck, history), 2);
  EXPECT_EQ(epochs_left(deck, history), 0);
  EXPECT_EQ(last_rule(deck, history), StopRule::none);
}

TEST(Stages, GoOnWhenADeckIsGivenMoreEpochs) {
  const std::vector<EpochFigures> history = lines({1, 1}) + lines({1, 1, 1}, 1);
  EXPECT_EQ(stage_of_next_epoch(deck_of({2, 5}), history), 1);
  EXPECT_EQ(stage_of_next_epoch(deck_of({9, 3}), history), 2);  // the first one's time is over
}

TEST(Plateau, EndsTheSolverAtWork) {
  deck::Deck deck = deck_of({100, 100});
  deck.stop.plateau_change = 0.01;
  deck.stop.plateau_epochs = 2;
  EXPECT_EQ(stage_of_next_epoch(deck, lines({1, 0.8, 0.795})), 0);
  EXPECT_EQ(stage_of_next_epoch(deck, lines({1, 0.8, 0.795, 0.79})), 1);
  EXPECT_EQ(stage_of_next_epoch(deck, lines({1, 0.8, 0.805, 0.80})), 1) << "up is change, too";
  EXPECT_EQ(stage_of_next_epoch(deck, lines({1, 0.8, 0.795, 0.7})), 0);
  EXPECT_EQ(stage_of_next_epoch(deck, lines({0.8, 0.8, 0.7, 0.7})), 0) << "not in a row";
  // The step from one solver to the next is no plateau.
  EXPECT_EQ(stage_of_next_epoch(deck, lines({1, 0.8}) + lines({0.8, 0.8}, 1)), 1);
  const auto both = lines({1, 0.8, 0.8, 0.8}) + lines({0.8, 0.8, 0.8}, 1);
  EXPECT_EQ(stage_of_next_epoch(deck, both), 2);
  EXPECT_EQ(last_rule(deck, both), StopRule::plateau);
  EXPECT_EQ(ending_rule(deck, both, 0), StopRule::none) << "a plateau ends no run by itself";
  deck.stop.plateau_change = 0;
  EXPECT_EQ(stage_of_next_epoch(deck, lines({1, 1, 1, 1})), 0);
}

TEST(Divergence, IsARiseInEveryEpoch) {
  deck::Deck deck;
  deck::Stop& stop = deck.stop;
  stop.divergence_epochs = 3;
  EXPECT_EQ(ending_rule(deck, lines({1, 1.1, 1.2, 1.3}), 0), StopRule::divergence);
  EXPECT_EQ(ending_rule(deck, lines({1.1, 1.2, 1.3}), 0), StopRule::none);
  EXPECT_EQ(ending_rule(deck, lines({1, 1.2, 1.2, 1.3, 1.4}), 0), StopRule::none);
  EXPECT_EQ(ending_rule(deck, lines({1, 1.1}) + lines({1.2, 1.3, 1.4}, 1), 0), StopRule::none);
  stop.divergence_epochs = 0;
  EXPECT_EQ(ending_rule(deck, lines({1, 1.2, 1.5, 1.8}), 0), StopRule::none);
}

/// Errors are a tenth of these: they begin at 1, and fall to 0.2.
TEST(Runaway, IsFarAboveTheLowestAndTheFirstForThreeEpochs) {
  deck::Deck deck;
  deck::Stop& stop = deck.stop;
  EXPECT_EQ(ending_rule(deck, lines({1, 0.2, 1.1, 1.2, 1.1}), 0), StopRule::runaway);
  EXPECT_EQ(ending_rule(deck, lines({1, 0.2, 1.1, 1.2}), 0), StopRule::none) << "two epochs";
  EXPECT_EQ(ending_rule(deck, lines({1, 0.2, 0.9, 0.9, 0.9}), 0), StopRule::none) << "below first";
  EXPECT_EQ(ending_rule(deck, lines({1, 0.9, 1.7, 1.7, 1.7}), 0), StopRule::none) << "not twice";
  EXPECT_EQ(ending_rule(deck, lines({1, 0.2, 1.1, 0.9, 1.1, 1.1}), 0), StopRule::none) << "swings";
  EXPECT_EQ(ending_rule(deck, lines({0.1, 0.1}) + lines({1, 1, 1, 1}, 1), 0), StopRule::none)
      << "of another solver";
  std::vector<EpochFigures> by_poisson = lines({1, 1, 1, 1});
  for (EpochFigures& line : by_poisson) line.noise = physics::Noise::poisson;
  EXPECT_EQ(ending_rule(deck, lines({0.1, 0.1}) + by_poisson, 0), StopRule::none)
      << "with another noise";
  deck.constraints.probe_power.from_epoch = 0;
  EXPECT_EQ(ending_rule(deck, lines({1, 0.2}) + lines({0.1, 0.3, 0.3, 0.3}, 1), 0),
            StopRule::runaway)
      << "what keeps intensities is no excuse";
  deck.constraints.object_bounds.l1 = {.from_epoch = 5};
  EXPECT_EQ(ending_rule(deck, lines({1, 0.2, 1.1, 1.2, 1.1}), 0), StopRule::runaway) << "not yet";
  deck.constraints.object_bounds.l1 = {.from_epoch = 4};
  EXPECT_EQ(ending_rule(deck, lines({1, 0.2}) + lines({0.1, 0.3, 0.3, 0.3}, 1), 0), StopRule::none)
      << "a constraint raised it";
  EXPECT_EQ(ending_rule(deck, lines({1, 0.2, 1.1, 1.2, 1.1}), 0), StopRule::runaway)
      << "above where the run began";
  deck.constraints = {};
  stop.divergence_ratio = 0;
  EXPECT_EQ(ending_rule(deck, lines({1, 0.2, 1.1, 1.2, 1.1}), 0), StopRule::none);
}

TEST(NearLowest, IsAFifthAboveTheSolversLowestAtMost) {
  EXPECT_TRUE(is_near_lowest(lines({1})));
  EXPECT_TRUE(is_near_lowest(lines({1, 0.5, 0.59})));
  EXPECT_FALSE(is_near_lowest(lines({1, 0.5, 0.61})));
  EXPECT_TRUE(is_near_lowest(lines({0.5}) + lines({1}, 1))) << "of another solver";
}

/// Lines of one solver by their validation error; NaN: no look.
std::vector<EpochFigures> looks(const std::vector<double>& errors, int stage = 0) {
  std::vector<EpochFigures> history;
  history.reserve(errors.size());
  for (const double error : errors) history.push_back({1, 1, stage, error});
  return history;
}

TEST(ValidationRule, EndsWhenLooksFindNothingLower) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  deck::Deck deck;
  deck::Stop& stop = deck.stop;
  EXPECT_EQ(ending_rule(deck, looks({1, 2, 3, 4}), 0), StopRule::none) << "off";
  stop.validation_epochs = 2;
  EXPECT_EQ(ending_rule(deck, looks({3, 1, 2}), 0), StopRule::none);
  EXPECT_EQ(ending_rule(deck, looks({3, 1, 2, 1}), 0), StopRule::validation);
  EXPECT_EQ(ending_rule(deck, looks({3, 2, 3, 1, 2}), 0), StopRule::none) << "a lower one since";
  EXPECT_EQ(ending_rule(deck, looks({none, 1, none, 2, none}), 0), StopRule::none);
  EXPECT_EQ(ending_rule(deck, looks({none, 1, none, 2, none, 3}), 0), StopRule::validation);
  EXPECT_EQ(ending_rule(deck, looks({1}) + looks({3, 2, 2}, 1), 0), StopRule::none)
      << "each solver has a lowest of its own";
}

TEST(TargetError, IsReachedFromAbove) {
  deck::Deck deck;
  deck::Stop& stop = deck.stop;
  stop.error = 0.05;
  EXPECT_EQ(ending_rule(deck, lines({1, 0.51}), 0), StopRule::none);
  EXPECT_EQ(ending_rule(deck, lines({1, 0.5}), 0), StopRule::error);
  EXPECT_EQ(ending_rule(deck, {}, 0), StopRule::none);
}

TEST(Time, IsOverAtItsLimit) {
  deck::Deck deck;
  deck::Stop& stop = deck.stop;
  EXPECT_EQ(ending_rule(deck, lines({1}), 1e9), StopRule::none);
  stop.time_s = 60;
  EXPECT_EQ(ending_rule(deck, lines({1}), 59.9), StopRule::none);
  EXPECT_EQ(ending_rule(deck, lines({1}), 60), StopRule::time);
}

TEST(Status, NamesTheRuleAndItsNumbers) {
  const deck::Stop stop{.time_s = 60,
                        .error = 0.0125,
                        .plateau_change = 1e-4,
                        .plateau_epochs = 5,
                        .divergence_epochs = 4,
                        .divergence_ratio = 2.5,
                        .validation_epochs = 6};
  EXPECT_EQ(status_text(StopRule::none, stop), "finished");
  EXPECT_EQ(status_text(StopRule::plateau, stop),
            "stopped: plateau (r_factor changed less than 0.0001 for 5 epochs)");
  EXPECT_EQ(status_text(StopRule::time, stop), "stopped: time (60 s are over)");
  EXPECT_EQ(status_text(StopRule::error, stop), "stopped: target error (not above 0.0125)");
  EXPECT_EQ(status_text(StopRule::divergence, stop),
            "stopped: divergence (r_factor rose for 4 epochs)");
  EXPECT_EQ(status_text(StopRule::runaway, stop),
            "stopped: divergence (error above 2.5 times its lowest for 3 epochs)");
  EXPECT_EQ(status_text(StopRule::validation, stop),
            "stopped: validation (no lower error of held-out positions in 6 looks)");
}

TEST(NothingToSave, MakesASignalEndTheWorkAtOnce) {
  const StopSignals signals(/*usr1_saves=*/false);
  std::raise(SIGTERM);
  EXPECT_NO_THROW(end_at_once());
  {
    const NothingToSave nothing(signals, ExitCode::unfinished);
    try {
      end_at_once();
      ADD_FAILURE() << "goes on";
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), ExitCode::unfinished);
      EXPECT_THAT(error.what(), ::testing::HasSubstr("stopped by a signal"));
    }
  }
  EXPECT_NO_THROW(end_at_once());
}

}  // namespace
}  // namespace tessera::run

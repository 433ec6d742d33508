// Background, intensities and positions beside every method: no run ends above where it began, nor
// far above the best that it has had; and one that does run away goes back.

#include <algorithm>

#include <gtest/gtest.h>

#include "run/run.hpp"
#include "run/stop_rules.hpp"
#include "simulation/simulation.hpp"
#include "support/deck_text.hpp"

namespace tessera::run {
namespace {

using testing::world;
using Overrides = std::vector<std::string>;

struct NamedOverrides {
  const char* name;
  Overrides overrides;
};

void PrintTo(const NamedOverrides& shown, std::ostream* out) {
  *out << shown.name;
}

const std::vector<NamedOverrides> scans{
    {"far_field",
     {"simulation.background_fraction=0.2", "simulation.intensity_jitter=0.1",
      "simulation.counts_per_pattern=1e6"}},
    {"strong_phase",
     {"simulation.object=siemens_star", "simulation.phase_rad=2",
      "simulation.background_fraction=0.1", "simulation.intensity_jitter=0.1"}},
    {"few_counts",
     {"simulation.object=cells", "simulation.phase_rad=0.3", "simulation.absorption=0.02",
      "simulation.counts_per_pattern=2e4"}},
    {"near_field",
     {"experiment.propagation=fresnel", "experiment.distance_m=6e-3",
      "experiment.detector_pixel_m=200e-9", "probe.semi_angle_rad=2e-4", "probe.defocus_m=10e-3",
      "simulation.step_m=0.8e-6", "simulation.phase_rad=0.2", "simulation.absorption=0.02",
      "simulation.diffuser_rad=0.5", "simulation.intensity_jitter=0.0036"}},
};

/// Steps as far as they are documented.
const Overrides bold{"solver.object_step=1", "solver.probe_step=1", "solver.final_step=1"};

const std::vector<NamedOverrides> methods{
    {"rpie", {"solver.method=rpie", "solver.object_step=0.5", "solver.probe_step=0.5"}},
    {"lsqml", {"solver.method=lsqml"}},
    {"bold_lsqml", {"solver.method=lsqml", bold[0], bold[1], bold[2]}},
    {"adam", {"solver.method=adam", "solver.object_step=0.02", "solver.probe_step=0.02"}},
};

const std::vector<NamedOverrides> refined{
    {"nothing", {}},
    {"beam", {"refine.background_from_epoch=2", "refine.intensity_from_epoch=2"}},
    {"all",
     {"refine.background_from_epoch=2", "refine.intensity_from_epoch=2",
      "refine.positions_from_epoch=2"}},
};

deck::Deck simulated(const std::filesystem::path& folder, const std::vector<Overrides>& overrides) {
  Overrides all{"simulation.n_positions=64", "solver.batch_size=8", "solver.epochs=60"};
  for (const Overrides& more : overrides) all.insert(all.end(), more.begin(), more.end());
  const deck::Deck deck = testing::parsed(folder, all, testing::atoms_deck);
  simulation::simulate(deck, world(), Log(false));
  return deck;
}

double lowest(const Run& run) {
  return std::ranges::min(run.history(), {}, &EpochFigures::error).error;
}

class NoRunaway
    : public ::testing::TestWithParam<std::tuple<NamedOverrides, NamedOverrides, NamedOverrides>> {
};

TEST_P(NoRunaway, EndsNearItsBest) {
  const auto& [scan, method, fitted] = GetParam();
  const testing::SharedFolder folder("no_runaway");
  const deck::Deck deck =
      simulated(folder.path(), {scan.overrides, method.overrides, fitted.overrides});
  run::Run run(deck, world(), Log(false));
  while (!run.finished()) {
    run.run_epoch();
    ASSERT_EQ(ending_rule(deck, run.history(), 0), StopRule::none) << run.n_epochs();
  }
  const double last = run.history().back().error;
  EXPECT_LE(last, run.history().front().error);
  EXPECT_LE(last, 1.2 * lowest(run));
}

INSTANTIATE_TEST_SUITE_P(Scans, NoRunaway,
                         ::testing::Combine(::testing::ValuesIn(scans),
                                            ::testing::ValuesIn(methods),
                                            ::testing::ValuesIn(refined)),
                         [](const auto& shown) {
                           return std::string(std::get<0>(shown.param).name) + "_" +
                                  std::get<1>(shown.param).name + "_" +
                                  std::get<2>(shown.param).name;
                         });

/// With one step an epoch of what is refined they end at twice its error.
TEST(LineSearches, KeepUpWithAdamWhereAllIsRefined) {
  const testing::SharedFolder folder("line_searches");
  const Overrides errors{"simulation.position_error_px=1", "solver.epochs=200"};
  const auto error_of = [&](const Overrides& method) {
    run::Run run(
        simulated(folder.path(), {scans[0].overrides, errors, method, refined[2].overrides}),
        world(), Log(false));
    while (!run.finished()) run.run_epoch();
    return run.measure().error;
  };
  const double adam = error_of(methods[3].overrides);
  for (const char* method : {"solver.method=ml", "solver.method=lbfgs"})
    EXPECT_LE(error_of({method, "solver.batch_size=0"}), 1.01 * adam) << method;
}

/// Constraints go uphill where the step before went down, and both end where they are even.
TEST(LineSearches, GoOnBesideConstraints) {
  const testing::SharedFolder folder("constrained");
  for (const char* method : {"solver.method=ml", "solver.method=lbfgs"})
    for (const char* constraint :
         {"constraints.object_smoothness_from_epoch=5", "constraints.object_l1_from_epoch=5"}) {
      run::Run run(simulated(folder.path(),
                             {scans[1].overrides, {method, constraint, "solver.batch_size=0"}}),
                   world(), Log(false));
      while (!run.finished()) run.run_epoch();
      EXPECT_LE(run.measure().error, 1.3 * lowest(run)) << method << ' ' << constraint;
    }
}

/// They raise the error for good, as they were asked to.
TEST(LateConstraints, EndNoRun) {
  const testing::SharedFolder folder("late_constraints");
  for (const char* method : {"solver.method=rpie", "solver.method=ml"}) {
    const deck::Deck deck = simulated(
        folder.path(), {{method, "solver.batch_size=0", "constraints.object_low_pass_from_epoch=40",
                         "constraints.object_low_pass_sigma_px=2"}});
    run::Run run(deck, world(), Log(false));
    while (!run.finished()) {
      run.run_epoch();
      ASSERT_EQ(ending_rule(deck, run.history(), 0), StopRule::none) << method;
    }
    EXPECT_GT(run.history().back().error, 2 * lowest(run)) << method << ": what the test is about";
  }
}

/// Where the start is bright and next to nothing was counted, a parabola of intensities has no end.
TEST(TooWideApertures, EndNearTheirBestByIntensities) {
  const testing::SharedFolder folder("too_wide");
  simulated(folder.path(), {});
  for (const char* method :
       {"solver.method=rpie", "solver.method=mpie", "solver.method=lsqml", "solver.method=auto"}) {
    run::Run run(testing::parsed(folder.path(),
                                 {"probe.semi_angle_rad=1.7e-3", "probe.measure_curvature=false",
                                  "solver.noise=intensity", "solver.epochs=20", method},
                                 testing::small_deck),
                 world(), Log(false));
    while (!run.finished()) ASSERT_NO_THROW(run.run_epoch()) << method;
    const double last = run.history().back().error;
    EXPECT_LT(last, 0.5 * run.history().front().error) << method;
    EXPECT_LE(last, 1.2 * lowest(run)) << method;
  }
}

/// Every unknown takes the whole of what a batch lacks.
TEST(Runaway, GoesBackToTheBestEpoch) {
  const testing::SharedFolder folder("runaway");
  const deck::Deck deck =
      simulated(folder.path(), {scans[3].overrides,
                                methods[0].overrides,
                                bold,
                                refined[1].overrides,
                                {"refine.intensity_step=1", "refine.background_step=1"}});
  run::Run run(deck, world(), Log(false));
  while (!run.finished() && ending_rule(deck, run.history(), 0) == StopRule::none) run.run_epoch();
  ASSERT_EQ(ending_rule(deck, run.history(), 0), StopRule::runaway);
  const double best = lowest(run);
  const int n_made = run.n_epochs();
  run.go_back();
  EXPECT_LT(run.n_epochs(), n_made);
  EXPECT_NEAR(run.history().back().error / best, 1, 1e-3);
  EXPECT_LE(run.measure().error, 1.2 * best);
}

/// An epoch's error is that of the states within it, and tells nothing of the one it ends with.
TEST(Runaway, InTheBestEpochGoesBackBeforeThat) {
  const testing::SharedFolder folder("runaway_in_best");
  const deck::Deck deck =
      simulated(folder.path(),
                {{"solver.method=rpie", "solver.object_step=1.5", "solver.probe_step=1.5",
                  "solver.object_alpha=0.01", "solver.probe_alpha=0.01", "solver.final_step=1"}});
  run::Run run(deck, world(), Log(false));
  while (!run.finished() && ending_rule(deck, run.history(), 0) == StopRule::none) run.run_epoch();
  ASSERT_EQ(ending_rule(deck, run.history(), 0), StopRule::runaway);
  const auto best = std::ranges::min_element(run.history(), {}, &EpochFigures::error);
  const double least = best->error;
  ASSERT_GT((best + 1)->error, 10 * least);
  run.go_back();
  EXPECT_LE(run.measure().error, 1.2 * least);
}

}  // namespace
}  // namespace tessera::run

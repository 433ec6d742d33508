// Start probes of the far field against the truth of simulated beams out of focus, of which the
// deck says nothing.

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/io/hdf5.hpp"

#include "optics/deck_optics.hpp"
#include "run/beam_trial.hpp"
#include "run/possible_beams.hpp"
#include "run/run.hpp"
#include "simulation/simulation.hpp"
#include "support/deck_text.hpp"
#include "support/small_scan.hpp"

namespace tessera::run {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::world;

constexpr const char* out_of_focus = R"(
[data]
file = "scan.h5"
[experiment]
energy_eV = 8000.0
distance_m = 1.8
detector_pixel_m = 172e-6
[probe]
initial = "aperture"
semi_angle_rad = 1e-3
[solver]
epochs = 50
batch_size = 32
[simulation]
object = "cells"
n_positions = 100
step_m = 150e-9
jitter = 0.3
detector_shape = [64, 64]
counts_per_pattern = 1e6
)";

class FarFieldStart : public ::testing::Test {
 protected:
  FarFieldStart() : folder_("far_field_start") {}
  deck::Deck deck(const std::vector<std::string>& overrides) const {
    return testing::parsed(folder_.path(), overrides, out_of_focus);
  }
  testing::SharedFolder folder_;
};

/// Beside the aperture an empty object's patterns are dark, and a background is counted there.
TEST_F(FarFieldStart, RoundingDoesNotChooseThePhasesOfDarkPixels) {
  const auto probe_from = [&](const char* defocus_m) {
    run::Run run(deck({text("probe.defocus_m=", defocus_m)}), world(), Log(false));
    for (int epoch = 0; epoch < 2; ++epoch) run.run_epoch();
    return testing::on_host(run.unknowns().probe);
  };
  simulation::simulate(deck({"probe.defocus_m=220e-6", "simulation.background_fraction=0.2"}),
                       world(), Log(false));
  const WaveStack elsewhere = probe_from("220.00001e-6");
  EXPECT_LT(testing::relative_difference(elsewhere, probe_from("220e-6")), 1e-3);
}

TEST_F(FarFieldStart, DefocusThatTheDeckDoesNotKnowIsMeasured) {
  for (const double defocus_m : {220e-6, -220e-6}) {
    simulation::simulate(deck({"probe.defocus_m=" + std::to_string(defocus_m)}), world(),
                         Log(false));
    run::Run run(deck({"probe.initial=mean_pattern"}), world(), Log(false));
    EXPECT_NEAR(run.scan().beam.defocus_m / defocus_m, 1, 0.35);
    run::Run asked(deck({"probe.initial=mean_pattern", "probe.measure_curvature=false"}), world(),
                   Log(false));
    EXPECT_EQ(asked.scan().beam.defocus_m, 0);
  }
}

/// Shadows of smooth cells say 140 um.
TEST_F(FarFieldStart, NearFocusErrorsOfTrialsSayMoreThanShadows) {
  simulation::simulate(deck({"probe.defocus_m=60e-6"}), world(), Log(false));
  const run::Run run(deck({"probe.initial=mean_pattern"}), world(), Log(false));
  EXPECT_NEAR(run.scan().beam.defocus_m / 60e-6, 1, 0.6);
}

TEST(LowestDefocus, IsWhereTheParabolaIs) {
  const auto lowest = [](double a_m, double right_m, double curvature) {
    const std::vector<double> defoci_m{0, a_m, a_m / 2};
    const auto error = [&](double at_m) {
      return 0.01 + curvature * (at_m - right_m) * (at_m - right_m);
    };
    return lowest_m({error(0), error(a_m), error(a_m / 2)}, defoci_m, 1);
  };
  EXPECT_NEAR(lowest(2e-4, 0.7e-4, 1e6), 0.7e-4, 1e-10);
  EXPECT_NEAR(lowest(-2e-4, -1.9e-4, 1e6), -1.9e-4, 1e-10);
  for (const double outside_m : {-1e-4, 3e-4}) EXPECT_EQ(lowest(2e-4, outside_m, 1e6), 2e-4);
  EXPECT_EQ(lowest(2e-4, 0.7e-4, -1e6), 2e-4);
  EXPECT_EQ(lowest(2e-4, 0.7e-4, 0), 2e-4) << "all alike";
  EXPECT_EQ(lowest_m({1, std::numeric_limits<double>::infinity(), 2}, {0, 2e-4, 1e-4}, 2), 1e-4);
}

TEST_F(FarFieldStart, DefocusThatTheDeckHasWrongMakesWay) {
  simulation::simulate(deck({"probe.defocus_m=220e-6", "simulation.object=atoms"}), world(),
                       Log(false));
  for (const char* initial : {"aperture", "mean_pattern"})
    for (const char* wrong : {"-220e-6", "90e-6", "500e-6"}) {
      const std::vector<std::string> keys{text("probe.initial=", initial),
                                          text("probe.defocus_m=", wrong)};
      EXPECT_NEAR(run::Run(deck(keys), world(), Log(false)).scan().beam.defocus_m / 220e-6, 1, 0.35)
          << initial << " with " << wrong;
    }
  const auto asked = deck({"probe.defocus_m=90e-6", "probe.measure_curvature=false"});
  EXPECT_EQ(run::Run(asked, world(), Log(false)).scan().beam.defocus_m, 90e-6);
}

TEST_F(FarFieldStart, DefocusThatTheDeckHasRightStays) {
  simulation::simulate(deck({"probe.defocus_m=220e-6"}), world(), Log(false));
  const auto right = deck({"probe.defocus_m=220e-6", "solver.method=lsqml"});
  EXPECT_EQ(run::Run(right, world(), Log(false)).scan().beam.defocus_m, 220e-6);
}

/// 0.4 counts a pixel, whose shadows say five times too much. After as many epochs of their own
/// `adam` explains the noise better by that.
TEST_F(FarFieldStart, MethodsThatExplainPatternsByAnyBeamLetPieTry) {
  const std::vector<std::string> few{"experiment.distance_m=1",
                                     "experiment.detector_pixel_m=133e-6",
                                     "probe.semi_angle_rad=1.2e-3",
                                     "probe.defocus_m=60e-6",
                                     "simulation.phase_rad=1",
                                     "simulation.scan=fermat",
                                     "simulation.n_positions=121",
                                     "simulation.step_m=72e-9",
                                     "simulation.detector_shape=[48,48]",
                                     "simulation.counts_per_pattern=1000",
                                     "simulation.defocus_offset_m=5e-6"};
  simulation::simulate(deck(few), world(), Log(false));
  for (const char* method : {"rpie", "adam", "lbfgs"}) {
    std::vector<std::string> keys = few;
    keys.push_back(text("solver.method=", method));
    keys.emplace_back("solver.batch_size=auto");
    EXPECT_EQ(run::Run(deck(keys), world(), Log(false)).scan().beam.defocus_m, 60e-6) << method;
  }
}

/// Epochs that were made to try start probes change nothing of those that follow.
class TrialsOf : public FarFieldStart, public ::testing::WithParamInterface<const char*> {};

TEST_P(TrialsOf, AMethodLeaveNothingBehind) {
  simulation::simulate(deck({"probe.defocus_m=220e-6"}), world(), Log(false));
  const auto after_two = [](run::Run& run) {
    for (int epoch = 0; epoch < 2; ++epoch) run.run_epoch();
    EXPECT_EQ(run.n_epochs(), 2);
    return testing::on_host(run.unknowns().probe);
  };
  const std::vector<std::string> keys{
      "object.initial=centre_of_mass", text("solver.method=", GetParam()),
      "refine.positions_from_epoch=0", "refine.background_from_epoch=0"};
  std::vector<std::string> wrong = keys;
  wrong.emplace_back("probe.defocus_m=-220e-6");
  run::Run tried(deck(wrong), world(), Log(false));
  deck::Deck right = deck(keys);
  right.probe.defocus_m = tried.scan().beam.defocus_m;
  right.probe.measure_curvature = false;
  run::Run told(right, world(), Log(false));
  EXPECT_GT(tried.scan().beam.defocus_m, 0);
  EXPECT_LT(testing::relative_difference(after_two(tried), after_two(told)), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Start, TrialsOf, ::testing::Values("lsqml", "adam"));

/// Half an electron a pixel of the disc: shadows are lost in that noise, and so are the errors of
/// beams that are wrong.
constexpr const char* few_electrons = R"(
[data]
file = "scan.h5"
[experiment]
voltage_V = 300e3
detector_pixel_rad = 44e-6
[probe]
initial = "aperture"
semi_angle_rad = 0.5e-3
defocus_m = -40e-6
[solver]
epochs = 50
[simulation]
object = "cells"
phase_rad = 0.3
n_positions = 900
step_m = 4e-9
detector_shape = [48, 48]
counts_per_pattern = 200
)";

class FewElectrons : public FarFieldStart {
 protected:
  FewElectrons() { simulation::simulate(deck({}), world(), Log(false)); }
  deck::Deck deck(const std::vector<std::string>& overrides) const {
    return testing::parsed(folder_.path(), overrides, few_electrons);
  }
};

TEST_F(FewElectrons, ParallaxShowsTheDefocus) {
  const run::Run unknown(deck({"probe.initial=mean_pattern", "probe.defocus_m=0"}), world(),
                         Log(false));
  EXPECT_NEAR(unknown.scan().beam.defocus_m / -40e-6, 1, 0.1);
  const run::Run wrong(deck({"probe.defocus_m=40e-6"}), world(), Log(false));
  EXPECT_NEAR(wrong.scan().beam.defocus_m / -40e-6, 1, 0.1);
  const run::Run right(deck({}), world(), Log(false));
  EXPECT_EQ(right.scan().beam.defocus_m, -40e-6);
}

/// A perovskite of one slice, little out of focus. Noise is most of the error: full steps to the
/// last epoch of a trial raise it more than a wrong beam does.
constexpr const char* crystal = R"(
[data]
file = "scan.h5"
[experiment]
voltage_V = 120e3
detector_pixel_rad = 1.24e-3
[probe]
initial = "aperture"
semi_angle_rad = 21e-3
defocus_m = -10e-9
[solver]
method = "auto"
epochs = 50
[simulation]
object = "perovskite"
phase_rad = 0.5
absorption = 0.0
scan = "raster"
n_positions = 576
step_m = 57e-12
detector_shape = [64, 64]
counts_per_pattern = 2000
)";

TEST_F(FarFieldStart, TrialsEndWithSmallSteps) {
  const auto deck = [&](const std::vector<std::string>& overrides) {
    return testing::parsed(folder_.path(), overrides, crystal);
  };
  simulation::simulate(deck({}), world(), Log(false));
  const run::Run unknown(deck({"probe.initial=mean_pattern", "probe.defocus_m=0"}), world(),
                         Log(false));
  EXPECT_NEAR(unknown.scan().beam.defocus_m / -10e-9, 1, 0.2);
  const run::Run half(deck({"probe.defocus_m=-5e-9"}), world(), Log(false));
  EXPECT_NEAR(half.scan().beam.defocus_m / -10e-9, 1, 0.2);
}

TEST(DoubtOfTurn, NamesTheTurnAndTheKey) {
  const optics::DiscParallax straight{0.1, 0, false, 0.5, 0.3};
  const auto doubt = [&](double rotation_rad, bool is_exchanged, double correlation) {
    return doubt_of_turn({straight, {0.1, rotation_rad, is_exchanged, correlation, 0.3}, 5});
  };
  EXPECT_THAT(doubt(0.5, false, 0.8), HasSubstr("29 degrees"));
  EXPECT_THAT(doubt(0.5, false, 0.8), HasSubstr("data.raster_rotation_rad"));
  EXPECT_THAT(doubt(0, true, 0.8), HasSubstr("data.transpose"));
  EXPECT_EQ(doubt(0.05, false, 0.51), "") << "nearly as good";
  EXPECT_EQ(doubt(0.5, false, 0.05), "") << "not clear";
}

TEST_F(FarFieldStart, DefocusThatMakesAProbeWiderThanItsWindowIsNotTaken) {
  const auto optics = deck({"probe.defocus_m=220e-6"}).experiment;
  const Shape2 window{64, 64};
  const auto fits = [&](const char* key) {
    return optics::fits_window(deck({key}).probe, window, optics::optics_of(optics, window));
  };
  EXPECT_TRUE(fits("probe.defocus_m=220e-6"));
  EXPECT_FALSE(fits("probe.defocus_m=2e-3"));
}

TEST_F(FarFieldStart, WhereDeckAndShadowsDisagreeBothAreTried) {
  const ShownDefocus clear{1e-4, true};
  const ShownDefocus unclear{1e-4, false};
  const ShownDefocus near_focus{1e-4, true, true, true};
  const auto possible = [&](const char* key, const ShownDefocus& shown) {
    return possible_defoci_m(deck({key}).probe, shown);
  };
  const char* unknown = "probe.initial=mean_pattern";
  EXPECT_THAT(possible(unknown, clear), ElementsAre(1e-4));
  EXPECT_THAT(possible(unknown, unclear), ElementsAre(0, 1e-4, 0.5e-4));
  EXPECT_THAT(possible(unknown, near_focus), ElementsAre(0, 1e-4, 0.5e-4));
  EXPECT_THAT(possible("probe.defocus_m=1.1e-4", unclear), ElementsAre(1.1e-4)) << "agreed";
  EXPECT_THAT(possible("probe.defocus_m=2e-4", clear), ElementsAre(2e-4, 1e-4));
  EXPECT_THAT(possible("probe.defocus_m=2e-4", unclear), ElementsAre(2e-4, 1e-4, -2e-4));
  EXPECT_THAT(possible("probe.defocus_m=-1e-4", unclear), ElementsAre(-1e-4, 1e-4)) << "once each";
  EXPECT_THAT(possible("probe.defocus_m=0", clear), ElementsAre(0, 1e-4)) << "an optic in focus";
}

}  // namespace
}  // namespace tessera::run

// Start probes of the far field against the truth of simulated beams out of focus, of which the
// deck says nothing.

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/io/hdf5.hpp"

#include "optics/deck_optics.hpp"
#include "run/beam_curvature.hpp"
#include "run/run.hpp"
#include "simulation/simulation.hpp"
#include "support/deck_text.hpp"
#include "support/small_scan.hpp"

namespace tessera::run {
namespace {

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
    EXPECT_NEAR(run.scan().defocus_m / defocus_m, 1, 0.35);
    run::Run asked(deck({"probe.initial=mean_pattern", "probe.measure_curvature=false"}), world(),
                   Log(false));
    EXPECT_EQ(asked.scan().defocus_m, 0);
  }
}

TEST_F(FarFieldStart, DefocusThatTheDeckHasWrongIsMeasured) {
  simulation::simulate(deck({"probe.defocus_m=220e-6", "simulation.object=atoms"}), world(),
                       Log(false));
  for (const char* initial : {"aperture", "mean_pattern"})
    for (const char* wrong : {"-220e-6", "90e-6", "500e-6"}) {
      const std::vector<std::string> keys{text("probe.initial=", initial),
                                          text("probe.defocus_m=", wrong)};
      EXPECT_NEAR(run::Run(deck(keys), world(), Log(false)).scan().defocus_m / 220e-6, 1, 0.35)
          << initial << " with " << wrong;
    }
}

TEST_F(FarFieldStart, DefocusThatTheDeckHasRoughlyIsKept) {
  simulation::simulate(deck({"probe.defocus_m=220e-6"}), world(), Log(false));
  for (const char* kept : {"probe.defocus_m=200e-6", "probe.defocus_m=250e-6"})
    EXPECT_EQ(run::Run(deck({kept}), world(), Log(false)).scan().defocus_m, 0) << kept;
  const auto asked = deck({"probe.defocus_m=90e-6", "probe.measure_curvature=false"});
  EXPECT_EQ(run::Run(asked, world(), Log(false)).scan().defocus_m, 0);
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

TEST_F(FarFieldStart, MotionThatMayBeChanceIsNotBelieved) {
  const deck::Probe unknown = deck({"probe.initial=mean_pattern"}).probe;
  EXPECT_TRUE(is_clear({2, 0, 2, 0.4, 0.25}, unknown));
  for (const optics::FeatureMotion& doubtful :
       {optics::FeatureMotion{2, 0, 2, 0.03, 0}, optics::FeatureMotion{2, 0, 2, 0.4, 0.3}}) {
    EXPECT_FALSE(is_clear(doubtful, unknown));
    EXPECT_THAT(defocus_line(doubtful, unknown, 1e-4), HasSubstr("too little to tell"));
  }
  const deck::Probe in_focus = deck({}).probe;
  EXPECT_TRUE(is_clear({2, 0, 2, 0.4, 0.1}, in_focus));
  EXPECT_FALSE(is_clear({2, 0, 2, 0.4, 0.25}, in_focus));
}

TEST_F(FarFieldStart, DefocusOfTheDeckMakesWayForAMuchBetterOneAlone) {
  const deck::Probe known = deck({"probe.defocus_m=5e-5"}).probe;
  const auto shadows = [](double meaningless, double of_deck) {
    return optics::FeatureMotion{2, 0, 2, 0.4, meaningless, 0, of_deck};
  };
  EXPECT_TRUE(is_clear(shadows(0.1, 0.25), known));
  EXPECT_FALSE(is_clear(shadows(0.1, 0.3), known)) << "hardly better than the deck's";
  EXPECT_TRUE(is_clear(shadows(0.25, 0.1), known));
  EXPECT_FALSE(is_clear(shadows(0.25, 0.3), known)) << "little more than chance";
  EXPECT_THAT(defocus_line(shadows(0.1, 0.2), known, 1e-4), HasSubstr("keeps the deck's"));
}

}  // namespace
}  // namespace tessera::run

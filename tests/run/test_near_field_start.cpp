// Starts of the near field against the truth of a simulated cone beam, and what is said of a start
// that is wrong.

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/io/hdf5.hpp"

#include "run/doubts.hpp"
#include "run/possible_beams.hpp"
#include "run/run.hpp"
#include "run/start.hpp"
#include "simulation/simulation.hpp"
#include "support/deck_text.hpp"
#include "support/small_scan.hpp"

namespace tessera::run {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::world;

constexpr const char* cone_beam = R"(
[data]
file = "scan.h5"
valid_pixels = "valid_pixels"
[experiment]
energy_eV = 17050.0
propagation = "fresnel"
distance_m = 1.0
source_distance_m = 0.05
detector_pixel_m = 3e-6
[probe]
initial = "aperture"
semi_angle_rad = 6e-5
defocus_m = 0.05
[solver]
batch_size = 0
[simulation]
object = "atoms"
n_positions = 64
step_m = 1e-6
detector_shape = [64, 64]
counts_per_pattern = 1e6
)";

class NearFieldStart : public ::testing::Test {
 protected:
  NearFieldStart() : folder_("near_field_start") {
    simulation::simulate(deck(), world(), Log(false));
  }
  deck::Deck deck(const std::vector<std::string>& overrides = {}) const {
    return testing::parsed(folder_.path(), overrides, cone_beam);
  }
  std::string path(const char* name) const { return (folder_.path() / name).string(); }
  testing::SharedFolder folder_;
};

/// |<a, b>| / (||a|| ||b||)
double overlap(const WaveStack& a, const WaveStack& b) {
  return std::abs(testing::inner(a, b)) /
         std::sqrt(testing::inner(a, a).real() * testing::inner(b, b).real());
}

/// E of the mean of all patterns in place of each, by the file.
double error_of_the_mean(const std::string& path, std::size_t n_pixels) {
  const std::vector<double> counts = io::File::open(path).read_doubles("patterns");
  const auto n_patterns = static_cast<double>(counts.size() / n_pixels);
  std::vector<double> mean(n_pixels, 0.0);
  for (std::size_t i = 0; i < counts.size(); ++i) mean[i % n_pixels] += counts[i] / n_patterns;
  double squares = 0;
  for (std::size_t i = 0; i < counts.size(); ++i)
    squares += std::pow(std::sqrt(mean[i % n_pixels]) - std::sqrt(counts[i]), 2);
  return squares / std::accumulate(counts.begin(), counts.end(), 0.0);
}

TEST_F(NearFieldStart, MeanPatternAndVacuumGiveTheProbeAndAnEmptyObjectsError) {
  const WaveStack truth = io::File::open(deck().data.file).read_waves("truth/probe");
  const double expected = error_of_the_mean(deck().data.file, 64 * 64);
  for (const std::vector<std::string>& initial :
       {std::vector<std::string>{"probe.initial=mean_pattern"},
        std::vector<std::string>{"probe.initial=vacuum", "probe.vacuum=patterns"}}) {
    std::vector<std::string> untried = initial;
    untried.emplace_back("solver.epochs=20");
    const deck::Deck asked = deck(untried);
    run::Run run(asked, world(), Log(false));
    EXPECT_GT(overlap(testing::on_host(run.unknowns().probe), truth), 0.97) << initial[0];
    EXPECT_NEAR(run.scan().empty_error / expected, 1, 1e-6);
    EXPECT_EQ(run.scan().beam.motion.yy, 1);
    const double error = run.measure().error;
    EXPECT_NEAR(error / expected, 1, 0.02) << initial[0];
    EXPECT_THAT(doubt_of_start(asked, run.scan(), error), IsEmpty());
  }
}

/// The beam's focus lies nearer than the deck's source, or farther away.
TEST_F(NearFieldStart, CurvatureThatTheDeckDoesNotKnowIsMeasured) {
  for (const double focus_m : {0.025, 0.03, 0.07}) {
    const std::vector<std::string> curved{"data.file=" + path("curved.h5"),
                                          "probe.defocus_m=" + std::to_string(focus_m),
                                          "probe.semi_angle_rad=" + std::to_string(3e-6 / focus_m),
                                          "simulation.position_error_px=0.5"};
    simulation::simulate(deck(curved), world(), Log(false));
    const WaveStack truth = io::File::open(path("curved.h5")).read_waves("truth/probe");
    const auto start = [&](const char* measure) {
      std::vector<std::string> overrides = curved;
      overrides.insert(overrides.end(), {"probe.initial=mean_pattern", measure});
      return std::make_unique<run::Run>(deck(overrides), world(), Log(false));
    };
    const auto flat = start("probe.measure_curvature=false");
    const auto measured = start("probe.measure_curvature=true");
    const double overlap_if_flat = overlap(testing::on_host(flat->unknowns().probe), truth);
    EXPECT_GT(overlap(testing::on_host(measured->unknowns().probe), truth),
              std::max(0.75, overlap_if_flat + 0.05));
    EXPECT_EQ(flat->scan().beam.motion.yy, 1);
    // Curvatures add up where the sample is.
    const double z = measured->scan().plan.optics.propagation_m;
    const double expected = 1 + z * (1 / focus_m - 1 / 0.05);
    const optics::FeatureMotion& motion = measured->scan().beam.motion;
    EXPECT_NEAR((motion.yy + motion.xx) / 2 / expected, 1, 0.1);
    EXPECT_THAT(curvature_line(motion, measured->scan().plan.optics),
                HasSubstr("experiment.source_distance_m"));
  }
}

/// Images of neighbours have the diffuser's speckles in common, which stand still.
TEST_F(NearFieldStart, CurvatureIsMeasuredBehindADiffuser) {
  for (const char* object : {"simulation.object=cells", "simulation.object=siemens_star"}) {
    std::vector<std::string> curved{"data.file=" + path("diffuser.h5"), "probe.defocus_m=0.03",
                                    "probe.semi_angle_rad=1e-4",        "simulation.diffuser_rad=1",
                                    "simulation.phase_rad=1.5",         object};
    simulation::simulate(deck(curved), world(), Log(false));
    curved.emplace_back("probe.initial=mean_pattern");
    const run::Run run(deck(curved), world(), Log(false));
    const optics::FeatureMotion& motion = run.scan().beam.motion;
    EXPECT_EQ(possible_motions(motion).size(), 1U) << object;
    const double expected = 1 + run.scan().plan.optics.propagation_m * (1 / 0.03 - 1 / 0.05);
    EXPECT_NEAR((motion.yy + motion.xx) / 2 / expected, 1, 0.1) << object;
  }
}

TEST_F(NearFieldStart, DoubtfulMotionIsTriedAndChanceIsNot) {
  const auto sizes = [](const optics::FeatureMotion& measured) {
    std::vector<double> found;
    for (const optics::FeatureMotion& motion : possible_motions(measured))
      found.push_back(motion.yy);
    return found;
  };
  EXPECT_THAT(sizes({2, 0, 2, 0.4, 0.3, 0.1}), ElementsAre(2));
  EXPECT_THAT(sizes({2, 0, 2, 0.4, 0, 0.25}), ElementsAre(1)) << "chance";
  EXPECT_THAT(sizes({1.004, 0, 1, 0.4, 0.39, 0}), ElementsAre(1)) << "flat";
  for (const optics::FeatureMotion& doubtful :
       {optics::FeatureMotion{1.05, 0, 1, 0.4, 0.39, 0}, {2, 0, 2, 0.01, 0, 0}}) {
    EXPECT_THAT(sizes(doubtful), ElementsAre(1, doubtful.yy));
    EXPECT_THAT(curvature_line(doubtful, {}), HasSubstr("too little to tell"));
  }
}

TEST_F(NearFieldStart, FirstEpochsTellWhatMotionDoesNot) {
  std::vector<std::string> curved{"data.file=" + path("slight.h5"), "probe.defocus_m=0.042",
                                  "probe.semi_angle_rad=7e-5", "simulation.diffuser_rad=1",
                                  "solver.epochs=30"};
  simulation::simulate(deck(curved), world(), Log(false));
  curved.emplace_back("probe.initial=mean_pattern");
  const deck::Deck asked = deck(curved);
  const Scan scan = load_scan(asked, scan_source(asked), world(), Log(false));
  ASSERT_EQ(scan.beams.size(), 2u);
  EXPECT_EQ(scan.beam.motion.yy, 1);
  const run::Run run(asked, world(), Log(false));
  EXPECT_EQ(run.scan().beam.motion.yy, scan.beams.back().motion.yy);
  EXPECT_EQ(run.n_epochs(), 0);
}

TEST_F(NearFieldStart, PixelsNotToBeTrustedAreNoPartOfTheProbe) {
  std::vector<std::string> overrides{"data.file=" + path("spoilt.h5"),
                                     "simulation.dead_pixel_fraction=0.1"};
  simulation::simulate(deck(overrides), world(), Log(false));
  overrides.emplace_back("probe.initial=mean_pattern");
  const deck::Deck spoilt = deck(overrides);
  const WaveStack truth = io::File::open(spoilt.data.file).read_waves("truth/probe");
  const run::Run run(spoilt, world(), Log(false));
  EXPECT_GT(overlap(testing::on_host(run.unknowns().probe), truth), 0.97);
}

TEST_F(NearFieldStart, AWrongOneIsDoubtedAndSuspectsAreNamed) {
  const deck::Deck wrong = deck({"probe.semi_angle_rad=1e-5"});
  run::Run run(wrong, world(), Log(false));
  EXPECT_THAT(doubt_of_start(wrong, run.scan(), run.measure().error),
              AllOf(HasSubstr("probe.initial = \"aperture\""), HasSubstr("experiment.distance_m"),
                    HasSubstr("4096 of 4096 pixels are trusted")));
}

TEST_F(NearFieldStart, AMaskThatTrustsFewPixelsIsDoubted) {
  const auto doubt = [&](const char* dead_fraction) {
    const deck::Deck masked = deck({"data.file=" + path("masked.h5"), dead_fraction});
    simulation::simulate(masked, world(), Log(false));
    return doubt_of_mask(load_scan(masked, scan_source(masked), world(), Log(false)));
  };
  EXPECT_THAT(doubt("simulation.dead_pixel_fraction=0.4"), IsEmpty());
  EXPECT_THAT(doubt("simulation.dead_pixel_fraction=0.75"),
              AllOf(HasSubstr("1024 of 4096"), HasSubstr("inverted")));
}

}  // namespace
}  // namespace tessera::run

// What reading makes of the detector: pixels, patterns, probes and masks that fit each other.
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/io/hdf5.hpp"

#include "run/doubts.hpp"
#include "run/run.hpp"
#include "simulation/simulation.hpp"
#include "support/deck_text.hpp"
#include "support/small_scan.hpp"
#include "support/spoilt_scan.hpp"

namespace tessera::run {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::world;

/// A noiseless simulated scan with a detector of 48 x 48.
class LoadScan : public ::testing::Test {
 protected:
  LoadScan() : folder_("load_scan") { simulation::simulate(deck({}), world(), Log(false)); }
  deck::Deck deck(std::vector<std::string> overrides) const {
    overrides.insert(overrides.end(),
                     {"simulation.detector_shape=[48, 48]", "simulation.noise=none",
                      "simulation.dead_pixel_fraction=0", "probe.defocus_m=40e-6"});
    return testing::parsed(folder_.path(), overrides);
  }
  Scan loaded_scan(const std::vector<std::string>& overrides) const {
    const deck::Deck wanted = deck(overrides);
    return load_scan(wanted, scan_source(wanted), world(), Log(false));
  }
  testing::SharedFolder folder_;
};

TEST_F(LoadScan, ObjectPixelsFollowTheDetector) {
  const Scan whole = loaded_scan({});
  const Scan cut = loaded_scan({"data.crop=[36, 36]"});
  const Scan binned = loaded_scan({"data.bin=2"});
  const Scan padded = loaded_scan({"data.pad_to=[64, 64]"});
  EXPECT_NEAR(cut.grid.pixel_m / whole.grid.pixel_m, 48.0 / 36, 1e-12);
  EXPECT_NEAR(binned.grid.pixel_m / whole.grid.pixel_m, 1, 1e-12);
  EXPECT_NEAR(padded.grid.pixel_m / whole.grid.pixel_m, 48.0 / 64, 1e-12);
  EXPECT_EQ(binned.grid.window, (Shape2{24, 24}));
  EXPECT_EQ(padded.grid.window, (Shape2{64, 64}));
  EXPECT_NEAR(binned.counts_per_pattern / whole.counts_per_pattern, 1, 1e-6);
  EXPECT_NEAR(padded.counts_per_pattern / whole.counts_per_pattern, 1, 1e-6);
  EXPECT_LT(cut.counts_per_pattern, whole.counts_per_pattern);
  double untrusted = 0;
  for (const std::uint8_t valid : padded.info.valid_pixels) untrusted += valid == 0;
  EXPECT_EQ(untrusted, 64 * 64 - 48 * 48);
}

/// Started from the true probe of the whole detector, all come as far in four epochs as the whole
/// detector does.
TEST_F(LoadScan, AProbeOfTheFilesDetectorFitsWhatIsLeftOfIt) {
  const auto error = [&](const char* option) {
    run::Run run(deck({option, "probe.initial=dataset", "probe.dataset=truth/probe"}), world(),
                 Log(false));
    for (int epoch = 0; epoch < 4; ++epoch) run.run_epoch();
    return run.measure().error;
  };
  const double whole = error("data.bin=1");
  for (const char* option : {"data.crop=[36, 36]", "data.bin=2", "data.pad_to=[64, 64]"})
    EXPECT_LT(error(option), 1.3 * whole) << option;
}

/// A dead row through the beam and a hot pixel beside it are named and trusted no more, by all
/// ranks; if they are to be trusted they are.
TEST_F(LoadScan, PixelsThatNoLightExplainsAreLeftOut) {
  const std::string spoilt = (folder_.path() / "spoilt.h5").string();
  testing::write_spoilt_scan(deck({}).data.file, spoilt, [](std::vector<double>& counts) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (i / 48 % 48 == 23) counts[i] = 0;
      if (i % (48 * 48) == 5 * 48 + 9) counts[i] = 1e5;
    }
  });
  const auto loaded = [&](const std::string& option) {
    const deck::Deck wanted = deck({"data.file=" + spoilt, "data.valid_pixels=", option});
    return load_scan(wanted, scan_source(wanted), world(), Log(false));
  };
  const Scan judged = loaded("data.find_bad_pixels=true");
  EXPECT_EQ(judged.info.n_trusted(), 47 * 48 - 1);
  for (int x = 0; x < 48; ++x) EXPECT_EQ(judged.info.valid_pixels(0, 47, x), 0);  // 24 is the first
  EXPECT_LT(judged.counts_per_pattern, loaded_scan({}).counts_per_pattern);
  EXPECT_EQ(loaded("data.find_bad_pixels=false").info.n_trusted(), 48 * 48);
}

/// One flash in every other pattern: the patterns are fitted as if there were none.
TEST_F(LoadScan, FlashesAreIgnoredEachInItsPattern) {
  const std::string spoilt = (folder_.path() / "flashes.h5").string();
  constexpr std::size_t n_pixels = 48 * 48;
  testing::write_spoilt_scan(deck({}).data.file, spoilt, [](std::vector<double>& counts) {
    for (std::size_t p = 0; p < counts.size() / n_pixels; p += 2)
      counts[p * n_pixels + (7 * p + 300) % n_pixels] += 3e4;
  });
  const auto error = [&](const std::vector<std::string>& options) {
    run::Run run(deck(options), world(), Log(false));
    for (int epoch = 0; epoch < 4; ++epoch) run.run_epoch();
    return run.measure().error;
  };
  const std::string flashed = "data.file=" + spoilt;
  const double whole = error({});
  EXPECT_LT(error({flashed, "data.valid_pixels="}), 1.02 * whole);
  EXPECT_GT(error({flashed, "data.valid_pixels=", "data.find_bad_pixels=false"}), 1.3 * whole);
}

TEST(DoubtOfPixels, NamesTheFirstOfThemAndTheRemedy) {
  EXPECT_EQ(doubt_of_pixels({}, {8, 10}), "");
  const std::string doubt = doubt_of_pixels({{13}, {20, 21, 22, 23, 24}}, {8, 10});
  EXPECT_THAT(doubt, HasSubstr("1 hot at (y, x) = (1, 3)"));
  EXPECT_THAT(doubt, HasSubstr("5 stuck at (y, x) = (2, 0), (2, 1), (2, 2), (2, 3) ..."));
  EXPECT_THAT(doubt, HasSubstr("data.find_bad_pixels = false"));
  EXPECT_THAT(doubt_of_pixels({{}, {}, 3}, {8, 10}),
              HasSubstr("left out: flashes, each in its pattern (3 in"));
}

TEST(DoubtOfModel, NamesWhatIsNotFittedWhereTheErrorIsAboveTheNoise) {
  const auto deck = [](const std::vector<std::string>& keys) { return testing::parsed("", keys); };
  EXPECT_EQ(doubt_of_model(deck({}), 1.1e-3, 1e-3), "");
  EXPECT_EQ(doubt_of_model(deck({}), 1.1e-3, 0), "");
  EXPECT_THAT(
      doubt_of_model(deck({"probe.n_modes=2"}), 2e-3, 1e-3),
      AllOf(HasSubstr("refine.positions_from_epoch"), HasSubstr("intensity_from_epoch"),
            HasSubstr("background_from_epoch"), HasSubstr("opr_modes"), Not(HasSubstr("n_modes"))));
  for (const char* knows_beam : {"probe.opr_modes=1", "probe.opr_trial_epoch=2"})
    EXPECT_EQ(
        doubt_of_model(deck({"probe.n_modes=2", "refine.positions_from_epoch=0",
                             "refine.intensity_from_epoch=2", "data.background=dark", knows_beam}),
                       2e-3, 1e-3),
        "");
}

/// Pixels that some patterns ignore have the mean of the others; the known background is there.
TEST_F(LoadScan, IgnoredPixelsDoNotCountInTheMean) {
  const Scan whole = loaded_scan({});
  const int n = whole.n_positions();
  std::vector<double> masks(static_cast<std::size_t>(n) * 48 * 48, 1);
  for (std::size_t i = 0; i < masks.size(); ++i)
    if ((i / (48 * 48)) % 3 == 1 && i % 5 == 2) masks[i] = 0;
  std::vector<double> dark(48 * 48, 0.5);
  world().together([&] {
    if (!world().is_root()) return;
    io::File file = io::File::create((folder_.path() / "masked.h5").string());
    const io::File given = io::File::open(deck({}).data.file);
    file.write_doubles("patterns", {n, 48, 48}, given.read_doubles("patterns"));
    file.write_doubles("positions_m", {n, 2}, given.read_doubles("positions_m"));
    file.write_doubles("masks", {n, 48, 48}, masks);
    file.write_doubles("dark", {48, 48}, dark);
    file.close();
  });
  const std::string file = "data.file=" + (folder_.path() / "masked.h5").string();
  const Scan masked = loaded_scan({file, "data.valid_pixels=masks", "data.background=dark"});
  EXPECT_EQ(masked.fitted(), whole.fitted());
  EXPECT_EQ(masked.on_device.saturation, std::numeric_limits<float>::max());
  EXPECT_EQ(masked.on_device.background.extent(0), 48u);
  EXPECT_EQ(whole.on_device.background.size(), 0u);
  // Patterns resemble each other: a third of them missing leaves the mean nearly as it was.
  EXPECT_NEAR(masked.counts_per_pattern / whole.counts_per_pattern, 1, 0.02);
}

}  // namespace
}  // namespace tessera::run

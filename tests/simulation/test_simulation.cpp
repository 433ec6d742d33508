// Simulated scans: what the file says, against plain sums over what it says is the truth.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <numeric>

#include <gtest/gtest.h>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/io/hdf5.hpp"

#include "io/all_patterns.hpp"
#include "io/scan_reader.hpp"
#include "simulation/simulation.hpp"
#include "support/simulated_file.hpp"

namespace tessera::simulation {
namespace {

using namespace testing;

TEST(Simulation, FileIsTheSameOnAnyNumberOfRanks) {
  ScratchFile many("many");
  ScratchFile one("one");
  for (const char* noise : {"none", "poisson"}) {
    deck::Deck deck = small_simulation(many.path);
    deck.simulation.noise = noise;
    simulate_quietly(deck);
    if (!world().is_root()) continue;
    deck.data.file = one.path;
    simulate_quietly(deck, comm::Communicator(MPI_COMM_SELF));
    const io::File a = io::File::open(many.path);
    const io::File b = io::File::open(one.path);
    for (const char* name : {"patterns", "positions_m", "valid_pixels", "truth/window_corner_px"})
      EXPECT_EQ(a.read_doubles(name), b.read_doubles(name)) << name;
    for (const char* name : {"truth/object", "truth/probe"}) {
      const WaveStack from_many = a.read_waves(name);
      const WaveStack from_one = b.read_waves(name);
      EXPECT_TRUE(std::ranges::equal(from_many, from_one)) << name;
    }
  }
}

TEST(Simulation, IntensitiesAreThePlainTransformOfTheTruth) {
  ScratchFile scratch("plain");
  simulate_quietly(small_simulation(scratch.path));
  if (!world().is_root()) return;
  const Truth truth(scratch.path);
  for (const int position : {0, 5, 11})
    expect_pattern(scratch.path, position,
                   plain_intensity(truth.probe, truth.object, truth.corner_px[position]));
}

TEST(Simulation, MeanCountsAndModePowersAreAsAsked) {
  ScratchFile scratch("dose");
  deck::Deck deck = small_simulation(scratch.path);
  deck.probe.n_modes = 3;
  deck.simulation.mode_power = 0.3;
  simulate_quietly(deck);
  if (!world().is_root()) return;
  const io::File file = io::File::open(scratch.path);
  const std::vector<double> patterns = file.read_doubles("patterns");
  EXPECT_EQ(file.info("patterns").type, io::ElementType::f32);
  EXPECT_NEAR(std::accumulate(patterns.begin(), patterns.end(), 0.0) / 12 / 2e4, 1, 1e-6);
  const WaveStack probe = file.read_waves("truth/probe");
  ASSERT_EQ(probe.n(), 3);
  std::vector<double> powers;
  for (int mode = 0; mode < 3; ++mode)
    powers.push_back(std::accumulate(probe.image(mode), probe.image(mode) + 256, 0.0,
                                     [](double sum, Complex v) { return sum + std::norm(v); }));
  const double total = powers[0] + powers[1] + powers[2];
  EXPECT_NEAR(powers[0] / total, 0.7, 1e-9);
  EXPECT_NEAR(powers[1] / total, 0.15, 1e-9);
  EXPECT_NEAR(powers[2] / total, 0.15, 1e-9);
}

TEST(Simulation, PoissonCountsHaveTheirMeanAndVariance) {
  ScratchFile exact("exact");
  ScratchFile noisy("noisy");
  deck::Deck deck = small_simulation(exact.path);
  deck.simulation.n_positions = 60;
  simulate_quietly(deck);
  deck.data.file = noisy.path;
  deck.simulation.noise = "poisson";
  simulate_quietly(deck);
  if (!world().is_root()) return;
  const io::File file = io::File::open(noisy.path);
  EXPECT_EQ(file.info("patterns").type, io::ElementType::u16);
  const std::vector<double> mean = io::File::open(exact.path).read_doubles("patterns");
  const std::vector<double> counts = file.read_doubles("patterns");
  double n = 0;
  double sum = 0;
  double sum_of_squares = 0;
  for (std::size_t i = 0; i < mean.size(); ++i) {
    if (mean[i] < 5) continue;
    const double deviation = (counts[i] - mean[i]) / std::sqrt(mean[i]);
    n += 1;
    sum += deviation;
    sum_of_squares += deviation * deviation;
  }
  ASSERT_GT(n, 3000);
  // Five standard errors.
  EXPECT_NEAR(sum / n, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(sum_of_squares / n, 1, 5 * std::sqrt(2.2 / n));
}

TEST(Simulation, ManyCountsAreKeptInThirtyTwoBits) {
  ScratchFile scratch("bright");
  deck::Deck deck = small_simulation(scratch.path);
  deck.simulation.noise = "poisson";
  deck.simulation.counts_per_pattern = 1e8;
  simulate_quietly(deck);
  if (!world().is_root()) return;
  EXPECT_EQ(io::File::open(scratch.path).info("patterns").type, io::ElementType::u32);
}

TEST(Simulation, BadPixelsAreListedAndSpoiledAndOthersUntouched) {
  ScratchFile whole("whole");
  ScratchFile spoiled("spoiled");
  simulate_quietly(small_simulation(whole.path));
  deck::Deck deck = small_simulation(spoiled.path);
  deck.data.valid_pixels = "mask/valid";
  deck.simulation.dead_pixel_fraction = 0.1;
  simulate_quietly(deck);
  if (!world().is_root()) return;
  const io::File file = io::File::open(spoiled.path);
  const std::vector<double> valid = file.read_doubles("mask/valid");
  const std::vector<double> patterns = file.read_doubles("patterns");
  const std::vector<double> good = io::File::open(whole.path).read_doubles("patterns");
  EXPECT_EQ(std::accumulate(valid.begin(), valid.end(), 0.0), 256 - 26);
  int n_hot = 0;
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    const bool hot = patterns[i] == 65535;
    n_hot += hot;
    if (valid[i % 256] == 1) {
      EXPECT_EQ(patterns[i], good[i]);
    } else {
      EXPECT_TRUE(hot || patterns[i] == 0) << patterns[i];
    }
  }
  EXPECT_EQ(n_hot, 13 * 12);
}

TEST(Simulation, CentredPatternsAreCornerOnesMovedByHalf) {
  ScratchFile centred("centred");
  ScratchFile corner("corner");
  simulate_quietly(small_simulation(centred.path));
  deck::Deck deck = small_simulation(corner.path);
  deck.data.zero_frequency = "corner";
  simulate_quietly(deck);
  if (!world().is_root()) return;
  const std::vector<double> a = io::File::open(centred.path).read_doubles("patterns");
  const std::vector<double> b = io::File::open(corner.path).read_doubles("patterns");
  for (int y = 0; y < 16; ++y)
    for (int x = 0; x < 16; ++x) EXPECT_EQ(a[(y + 8) % 16 * 16 + (x + 8) % 16], b[y * 16 + x]);
}

TEST(Simulation, EverySampleShowsPhaseAndAbsorptionWithinItsBounds) {
  ScratchFile scratch("samples");
  for (const char* sample : {"siemens_star", "cells", "resolution_chart", "atoms"}) {
    deck::Deck deck = small_simulation(scratch.path);
    deck.simulation.object = sample;
    deck.simulation.step_m = 500e-9;
    deck.simulation.phase_rad = 0.8;
    deck.simulation.absorption = 0.1;
    simulate_quietly(deck);
    if (!world().is_root()) continue;
    double n_thin = 0;
    double n_thick = 0;
    const WaveStack object = io::File::open(scratch.path).read_waves("truth/object");
    for (const Complex& value : object) {
      const double thickness = std::arg(value) / 0.8;
      EXPECT_GE(thickness, -1e-12);
      EXPECT_LE(thickness, 1 + 1e-12);
      EXPECT_NEAR(std::abs(value), std::pow(0.9, thickness), 1e-12);
      n_thin += thickness < 0.2;
      n_thick += thickness > 0.5;
    }
    EXPECT_GT(n_thin, 0.1 * static_cast<double>(object.size())) << sample;
    EXPECT_GT(n_thick, 0.02 * static_cast<double>(object.size())) << sample;
  }
}

TEST(Simulation, IsWhatTheScanReaderReads) {
  ScratchFile scratch("read");
  deck::Deck deck = small_simulation(scratch.path);
  deck.simulation.scan = "raster";
  deck.simulation.n_positions = 10;  // 3 x 3
  simulate_quietly(deck);
  const io::ScanSource source{.path = scratch.path,
                              .patterns = "patterns",
                              .positions = "positions_m",
                              .valid_pixels = "valid_pixels",
                              .zero_frequency_centred = true};
  const io::ScanInfo info = io::read_scan_info(source, world());
  EXPECT_EQ(info.n_positions, 9);
  EXPECT_EQ(info.pattern, (Shape2{16, 16}));
  std::vector<int> owner(static_cast<std::size_t>(info.n_positions), 0);
  std::vector<int> mine(world().is_root() ? owner.size() : 0);
  std::iota(mine.begin(), mine.end(), 0);
  const auto patterns = io::testing::read_all(source, info, owner, mine, world());
  EXPECT_NEAR(patterns.total_counts / (9 * 2e4), 1, 1e-6);
}

TEST(Simulation, DeckThatDoesNotFitIsRefusedByAllRanksWithoutAFile) {
  ScratchFile scratch("refused");
  auto refused = [&](auto change) {
    deck::Deck deck = small_simulation(scratch.path);
    change(deck);
    EXPECT_THROW(simulate_quietly(deck), AgreedError);
    world().barrier();
    EXPECT_FALSE(std::filesystem::exists(scratch.path));
  };
  refused([](deck::Deck& deck) { deck.simulation.step_m = 0; });
  refused([](deck::Deck& deck) { deck.experiment.energy_eV.reset(); });
  refused([](deck::Deck& deck) { deck.experiment.detector_pixel_m.reset(); });
  refused([](deck::Deck& deck) { deck.simulation.detector_shape = {16, 32}; });
  refused([](deck::Deck& deck) { deck.simulation.dead_pixel_fraction = 0.1; });
  refused([](deck::Deck& deck) { deck.probe.initial = "mean_pattern"; });
  refused([](deck::Deck& deck) { deck.probe.semi_angle_rad = 0.1; });
  refused([](deck::Deck& deck) { deck.data.file = "no_such_folder/scan.h5"; });
  refused([](deck::Deck& deck) {
    deck.simulation.noise = "poisson";
    deck.simulation.counts_per_pattern = 1e13;
  });
}

}  // namespace
}  // namespace tessera::simulation

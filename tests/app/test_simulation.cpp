// Simulated scans: what the file says, against plain sums over what it says is the truth.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <numeric>

#include <gtest/gtest.h>

#include "tessera/app/simulation.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/io/hdf5.hpp"
#include "tessera/io/scan_reader.hpp"

#include "io/all_patterns.hpp"
#include "support/world.hpp"

namespace tessera::app {
namespace {

using Complex = std::complex<double>;
using testing::world;

/// Removes what a test wrote; the name tells apart the programs that run at the same time.
class ScratchFile {
 public:
  explicit ScratchFile(const std::string& name)
      : path(text("test_simulation_", world().size(), "_", name, ".h5")) {}
  ~ScratchFile() {
    world().barrier();
    if (world().is_root()) std::filesystem::remove(path);
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  const std::string path;
};

/// A scan of 12 positions of 16 x 16 pixels: 7 kB.
deck::Deck small_deck(const std::string& path) {
  deck::Deck deck;
  deck.title = "small scan";
  deck.data.file = path;
  deck.experiment = {.energy_eV = 8000,
                     .voltage_V = {},
                     .distance_m = 1.8,
                     .detector_pixel_m = 688e-6,
                     .detector_pixel_rad = {}};
  deck.probe.initial = "aperture";
  deck.probe.semi_angle_rad = 1.2e-3;
  deck.probe.defocus_m = 60e-6;
  deck.probe.n_modes = 2;
  deck.simulation.scan = "fermat";
  deck.simulation.n_positions = 12;
  deck.simulation.step_m = 120e-9;
  deck.simulation.detector_shape = {16, 16};
  deck.simulation.counts_per_pattern = 2e4;
  deck.simulation.noise = "none";
  return deck;
}

void simulate_quietly(const deck::Deck& deck, const comm::Communicator& comm = world()) {
  simulate(deck, comm, Log(false));
}

TEST(Simulation, FileIsTheSameOnAnyNumberOfRanks) {
  ScratchFile many("many");
  ScratchFile one("one");
  for (const char* noise : {"none", "poisson"}) {
    deck::Deck deck = small_deck(many.path);
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

/// sum over (from_y, from_x) of in exp(2 pi i sign (to . from) / n) / n, by plain sums; `from` and
/// `to` start at these pixels.
std::vector<Complex> plain_transform(const std::vector<Complex>& in, int n, int sign,
                                     int from_start, int to_start) {
  std::vector<Complex> out(in.size());
  for (int to = 0; to < n * n; ++to)
    for (int from = 0; from < n * n; ++from) {
      const int product = (to / n + to_start) * (from / n + from_start) +
                          (to % n + to_start) * (from % n + from_start);
      out[to] += in[from] * std::polar(1.0 / n, 2 * std::numbers::pi * sign * product / n);
    }
  return out;
}

/// |DFT(probe shifted by `shift_px` * patch)|^2 summed over modes, zero frequency at the centre.
std::vector<double> plain_intensity(const WaveStack& probe, const WaveStack& object, Pixel corner,
                                    Vec2 shift_px) {
  const int n = probe.w();
  const int half = n / 2;
  std::vector<double> intensity(static_cast<std::size_t>(n * n), 0.0);
  for (int mode = 0; mode < probe.n(); ++mode) {
    std::vector<Complex> wave(probe.image(mode), probe.image(mode) + n * n);
    wave = plain_transform(wave, n, -1, 0, -half);
    for (int k = 0; k < n * n; ++k)
      wave[k] *= std::polar(1.0, -2 * std::numbers::pi / n *
                                     ((k / n - half) * shift_px.y + (k % n - half) * shift_px.x));
    wave = plain_transform(wave, n, +1, -half, 0);
    for (int i = 0; i < n * n; ++i) wave[i] *= object(0, corner.y + i / n, corner.x + i % n);
    wave = plain_transform(wave, n, -1, 0, -half);
    for (int k = 0; k < n * n; ++k) intensity[k] += std::norm(wave[k]);
  }
  return intensity;
}

TEST(Simulation, IntensitiesAreThePlainTransformOfTheTruth) {
  ScratchFile scratch("plain");
  simulate_quietly(small_deck(scratch.path));
  if (!world().is_root()) return;
  const io::File file = io::File::open(scratch.path);
  const std::vector<double> patterns = file.read_doubles("patterns");
  const std::vector<double> corner_px = file.read_doubles("truth/window_corner_px");
  const WaveStack object = file.read_waves("truth/object");
  const WaveStack probe = file.read_waves("truth/probe");
  for (const int position : {0, 5, 11}) {
    const Vec2 at{corner_px[2 * position], corner_px[2 * position + 1]};
    const Pixel corner{static_cast<int>(std::floor(at.y + 0.5)),
                       static_cast<int>(std::floor(at.x + 0.5))};
    const std::vector<double> expected =
        plain_intensity(probe, object, corner, {at.y - corner.y, at.x - corner.x});
    const double most = *std::ranges::max_element(expected);
    for (int pixel = 0; pixel < 256; ++pixel)
      EXPECT_NEAR(patterns[position * 256 + pixel] / most, expected[pixel] / most, 1e-7)
          << position << " " << pixel;
  }
}

TEST(Simulation, MeanCountsAndModePowersAreAsAsked) {
  ScratchFile scratch("dose");
  deck::Deck deck = small_deck(scratch.path);
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
  deck::Deck deck = small_deck(exact.path);
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
  deck::Deck deck = small_deck(scratch.path);
  deck.simulation.noise = "poisson";
  deck.simulation.counts_per_pattern = 1e8;
  simulate_quietly(deck);
  if (!world().is_root()) return;
  EXPECT_EQ(io::File::open(scratch.path).info("patterns").type, io::ElementType::u32);
}

TEST(Simulation, BadPixelsAreListedAndSpoiledAndOthersUntouched) {
  ScratchFile whole("whole");
  ScratchFile spoiled("spoiled");
  simulate_quietly(small_deck(whole.path));
  deck::Deck deck = small_deck(spoiled.path);
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
  simulate_quietly(small_deck(centred.path));
  deck::Deck deck = small_deck(corner.path);
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
  for (const char* sample : {"siemens_star", "cells", "resolution_chart"}) {
    deck::Deck deck = small_deck(scratch.path);
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
    EXPECT_GT(n_thick, 0.1 * static_cast<double>(object.size())) << sample;
  }
}

TEST(Simulation, IsWhatTheScanReaderReads) {
  ScratchFile scratch("read");
  deck::Deck deck = small_deck(scratch.path);
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
    deck::Deck deck = small_deck(scratch.path);
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
}  // namespace tessera::app

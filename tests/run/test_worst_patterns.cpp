// The patterns that the model explains worst, as they are in a result.

#include <cmath>

#include <gtest/gtest.h>

#include "tessera/io/hdf5.hpp"

#include "run/run.hpp"
#include "simulation/simulation.hpp"
#include "support/deck_text.hpp"
#include "support/plain_model.hpp"
#include "support/spoilt_scan.hpp"

namespace tessera::run {
namespace {

using testing::world;

/// Patterns of 32 x 32, of which one pixel is not trusted and two patterns are read backwards: the
/// second of those is twice as bright. Collective.
deck::Deck spoilt(const std::filesystem::path& folder) {
  deck::Deck deck = testing::parsed(
      folder, {"simulation.dead_pixel_fraction=0", "data.subpixel=false", "solver.epochs=4"});
  simulation::simulate(deck, world(), Log(false));
  const std::string from = deck.data.file;
  deck.data.file = (folder / "spoilt.h5").string();
  const auto spoil = [](std::vector<double>& patterns) {
    for (const int position : {11, 40}) {
      const auto begin = patterns.begin() + position * 1024;
      std::reverse(begin, begin + 1024);
      for (auto count = begin; count != begin + 1024; ++count) *count *= position == 40 ? 2 : 1;
    }
  };
  testing::write_spoilt_scan(from, deck.data.file, spoil, [](io::File& file) {
    std::vector<double> valid(1024, 1);
    valid[3 * 32 + 5] = 0;
    file.write_doubles("valid_pixels", {32, 32}, valid);
  });
  return deck;
}

/// |unitary DFT of probe times object|^2, zero frequency in the middle.
std::vector<double> expected_by_definition(const io::File& result, int position) {
  const WaveStack object = result.read_waves("object");
  WaveStack wave = result.read_waves("probe");
  const std::vector<double> corners = result.read_doubles("window_corner_px");
  const auto y0 = static_cast<int>(corners[static_cast<std::size_t>(2 * position)]);
  const auto x0 = static_cast<int>(corners[static_cast<std::size_t>(2 * position + 1)]);
  for (int y = 0; y < 32; ++y)
    for (int x = 0; x < 32; ++x) wave(0, y, x) *= object(0, y0 + y, x0 + x);
  const WaveStack detector = testing::dft(wave, -1);
  std::vector<double> intensity;
  for (int y = 0; y < 32; ++y)
    for (int x = 0; x < 32; ++x)
      intensity.push_back(std::norm(detector(0, (y + 16) % 32, (x + 16) % 32)));
  return intensity;
}

TEST(WorstPatterns, AreThoseThatWereSpoilt) {
  const testing::SharedFolder folder("worst_patterns");
  deck::Deck deck = spoilt(folder.path());
  deck.output.file = (folder.path() / "result.h5").string();
  run::Run run(deck, world(), Log(false));
  while (!run.finished()) run.run_epoch();
  run.write_result(run.measure(), "finished");

  const io::File result = io::File::open(deck.output.file);
  const std::vector<double> position = result.read_doubles("worst_patterns/position");
  ASSERT_EQ(position.size(), 6u);
  EXPECT_EQ(position[0], 40);
  EXPECT_EQ(position[1], 11);
  const std::vector<double> counts = io::File::open(deck.data.file).read_doubles("patterns");
  const std::vector<double> measured = result.read_doubles("worst_patterns/measured");
  const std::vector<double> expected = result.read_doubles("worst_patterns/expected");
  const std::vector<double> cost = result.read_doubles("worst_patterns/cost");
  const std::vector<double> error = result.read_doubles("worst_patterns/error");
  for (std::size_t i = 0; i < 6; ++i) {
    const std::vector<double> by_definition =
        expected_by_definition(result, static_cast<int>(position[i]));
    double squares = 0;
    double sum = 0;
    for (std::size_t r = 0; r < 1024; ++r) {
      const double here = measured[i * 1024 + r];
      const double model = expected[i * 1024 + r];
      if (r == 3 * 32 + 5) {
        EXPECT_TRUE(std::isnan(here) && std::isnan(model)) << "not trusted";
        continue;
      }
      EXPECT_EQ(here, counts[static_cast<std::size_t>(position[i]) * 1024 + r]);
      EXPECT_NEAR(model, by_definition[r], 1e-4 * by_definition[r] + 1e-3);
      squares += std::pow(std::sqrt(model) - std::sqrt(here), 2);
      sum += here;
    }
    EXPECT_NEAR(cost[i] / squares, 1, 1e-4) << "of amplitudes";
    EXPECT_NEAR(error[i] * sum / squares, 1, 1e-4);
    if (i > 0) {
      EXPECT_LE(cost[i], cost[i - 1]);
    }
  }
}

TEST(WorstPatterns, LargeOnesAreAddedUpAndSavesHaveNone) {
  const testing::SharedFolder folder("worst_patterns_large");
  deck::Deck deck = testing::parsed(
      folder.path(), {"simulation.detector_shape=[260,260]", "simulation.n_positions=9",
                      "simulation.dead_pixel_fraction=0", "data.valid_pixels=", "solver.epochs=1"});
  simulation::simulate(deck, world(), Log(false));
  deck.output.file = (folder.path() / "result.h5").string();
  run::Run run(deck, world(), Log(false));
  run.write_result(run.run_epoch(), "running");
  EXPECT_FALSE(io::File::open(deck.output.file).has("worst_patterns"));
  world().barrier();
  run.write_result(run.measure(), "finished");
  const io::File result = io::File::open(deck.output.file);
  EXPECT_EQ(result.info("worst_patterns/measured").extents, (io::Extents{6, 130, 130}));
  const std::vector<double> measured = result.read_doubles("worst_patterns/measured");
  const std::vector<double> counts = io::File::open(deck.data.file).read_doubles("patterns");
  const auto first = static_cast<std::size_t>(result.read_doubles("worst_patterns/position")[0]);
  const double* pattern = counts.data() + first * 260 * 260;
  for (std::size_t y = 0; y < 130; ++y)
    for (std::size_t x = 0; x < 130; ++x) {
      const double* of = pattern + 2 * y * 260 + 2 * x;
      EXPECT_EQ(measured[y * 130 + x], of[0] + of[1] + of[260] + of[261]);
    }
}

}  // namespace
}  // namespace tessera::run

// What the beam's intensities are fitted to: a beam that wavers, and not the noise of a steady one.

#include <cmath>

#include <gtest/gtest.h>

#include "tessera/io/hdf5.hpp"

#include "simulation/simulation.hpp"
#include "support/compared_with_truth.hpp"
#include "support/deck_text.hpp"

namespace tessera::run {
namespace {

using testing::world;

/// Of fitted intensities from the truth, whose mean is 1, rms. Collective.
double intensity_error(const testing::SharedFolder& folder, std::vector<std::string> overrides,
                       int epochs) {
  overrides.emplace_back("refine.intensity_from_epoch=2");
  const deck::Deck deck = testing::parsed(folder.path(), overrides, testing::atoms_deck);
  simulation::simulate(deck, world(), Log(false));
  testing::compared_with_truth(deck, epochs);
  const std::vector<double> found =
      io::File::open(deck.output.file).read_doubles("parameters/intensity");
  const io::File scan = io::File::open(deck.data.file);
  const std::vector<double> truth = scan.has("truth/intensity")
                                        ? scan.read_doubles("truth/intensity")
                                        : std::vector<double>(found.size(), 1);
  double mean = 0;
  for (const double value : truth) mean += value / static_cast<double>(truth.size());
  double sum = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) sum += std::pow(found[i] - truth[i] / mean, 2);
  return std::sqrt(sum / static_cast<double>(truth.size()));
}

TEST(Intensities, OfABeamThatWaversComeOut) {
  const testing::SharedFolder folder("intensities_waver");
  EXPECT_LT(intensity_error(folder, {"simulation.intensity_jitter=0.05"}, 60), 0.01);
}

/// Of 2,000 counts the noise is 0.022, and what the sample absorbs is taken for the beam, too.
TEST(Intensities, OfASteadyBeamStayEvenWithFewCounts) {
  const testing::SharedFolder folder("intensities_steady");
  const std::vector<std::string> few{"simulation.counts_per_pattern=2000"};
  EXPECT_GT(intensity_error(folder, few, 10), 0.005);  // not held yet
  EXPECT_LT(intensity_error(folder, few, 60), 0.001);
}

}  // namespace
}  // namespace tessera::run

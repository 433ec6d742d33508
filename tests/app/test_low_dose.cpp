// Few counts per pattern: the Poisson likelihood against amplitudes, with the same solver.

#include <iostream>

#include <gtest/gtest.h>

#include "tessera/app/simulation.hpp"

#include "app/compared_with_truth.hpp"
#include "app/deck_text.hpp"

namespace tessera::app {
namespace {

/// ||object - truth|| / ||truth|| after `ml` with this noise model.
double object_error(const std::filesystem::path& folder, const std::string& noise) {
  const deck::Deck deck = testing::parsed(
      folder,
      {"simulation.counts_per_pattern=200", "simulation.noise=poisson", "simulation.step_m=60e-9",
       "simulation.n_positions=225", "solver.method=ml", "solver.batch_size=0", "solver.epochs=15",
       "solver.noise=" + noise, "output.file=" + (folder / (noise + ".h5")).string()});
  simulate(deck, testing::world(), Log(false));
  return testing::compared_with_truth(deck, deck.solvers.front().epochs).after.object;
}

TEST(LowDose, PoissonIsAsGoodAsAmplitudesWithinAPercent) {
  const testing::SharedFolder folder("low_dose");
  const double amplitude = object_error(folder.path(), "amplitude");
  const double poisson = object_error(folder.path(), "poisson");
  std::cout << "200 counts per pattern, object error: amplitude " << amplitude << ", poisson "
            << poisson << "\n";
  EXPECT_LE(poisson, 1.01 * amplitude);
  EXPECT_LT(poisson, 0.5) << "both could fail alike";
}

}  // namespace
}  // namespace tessera::app

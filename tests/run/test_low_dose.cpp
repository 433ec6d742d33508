// 200 counts per pattern: the Poisson likelihood against amplitudes, with the same solver, each at
// its own best epoch. docs/methods/maximum_likelihood.md, "Few counts", has the whole comparison,
// the case that amplitudes win included.

#include <algorithm>
#include <iostream>
#include <numeric>

#include <gtest/gtest.h>

#include "tessera/base/text.hpp"
#include "tessera/io/hdf5.hpp"

#include "analysis/compare.hpp"
#include "run/run.hpp"
#include "simulation/simulation.hpp"
#include "support/deck_text.hpp"

namespace tessera::run {
namespace {

using Overrides = std::vector<std::string>;

constexpr int n_seeds = 3;
constexpr int epochs_between_looks = 5;

/// The least ||object - truth|| / ||truth|| among the deck's epochs.
double min_object_error(const deck::Deck& deck) {
  run::Run run(deck, testing::world(), Log(false));
  double min = 1;
  for (int epoch = 1; epoch <= deck.solvers.at(0).epochs; ++epoch) {
    const EpochFigures figures = run.run_epoch();
    if (epoch % epochs_between_looks != 0) continue;
    run.write_result(figures, "running");
    const auto found = analysis::compare_files(deck.output.file, deck.data.file, testing::world());
    min = std::min(min, found.after.object);
  }
  return min;
}

struct MeanErrors {
  double amplitude = 0;
  double poisson = 0;
};

/// Over scans whose jitter and noise differ.
MeanErrors mean_least_errors(const std::filesystem::path& folder, const Overrides& scan) {
  MeanErrors mean;
  for (int seed = 1; seed <= n_seeds; ++seed) {
    const auto deck_with = [&](const std::string& noise) {
      Overrides all{"simulation.counts_per_pattern=200",
                    text("simulation.seed=", seed),
                    "solver.method=ml",
                    "solver.batch_size=0",
                    "solver.noise=" + noise,
                    "output.file=" + (folder / "result.h5").string()};
      all.insert(all.end(), scan.begin(), scan.end());
      return testing::parsed(folder, all);
    };
    simulation::simulate(deck_with("poisson"), testing::world(), Log(false));
    mean.amplitude += min_object_error(deck_with("amplitude")) / n_seeds;
    mean.poisson += min_object_error(deck_with("poisson")) / n_seeds;
  }
  std::cout << "200 counts per pattern, mean object error of " << n_seeds
            << " scans, best epochs: amplitude " << mean.amplitude << ", poisson " << mean.poisson
            << "\n";
  return mean;
}

TEST(LowDose, PoissonIsAtLeastAsGoodWithTheSameTotalVariation) {
  const testing::SharedFolder folder("low_dose_variation");
  const MeanErrors error = mean_least_errors(
      folder.path(), {"simulation.step_m=60e-9", "simulation.n_positions=225", "solver.epochs=40",
                      "constraints.object_tv_from_epoch=0", "constraints.object_tv=0.02"});
  EXPECT_LE(error.poisson, error.amplitude);
  EXPECT_LT(error.poisson, 0.2) << "both could fail alike";
}

/// As many counts per pattern, but on every object pixel four times as many: what is left is the
/// bias of the amplitudes.
TEST(LowDose, PoissonIsAtLeastAsGoodWithoutRegulariserWhereWindowsOverlapMore) {
  const testing::SharedFolder folder("low_dose_overlap");
  const MeanErrors error = mean_least_errors(
      folder.path(), {"simulation.step_m=30e-9", "simulation.n_positions=900", "solver.epochs=20"});
  EXPECT_LE(error.poisson, error.amplitude);
  EXPECT_LT(error.poisson, 0.2) << "both could fail alike";
}

/// Without a prior its steps, none of which goes below 0, would make it two to five times as much,
/// at the cost of the bright field.
TEST(LowDose, ARefinedBackgroundIsNotMadeOfNoise) {
  const testing::SharedFolder folder("low_dose_background");
  const auto sum_of = [](const std::string& path, const char* name) {
    const std::vector<double> counts = io::File::open(path).read_doubles(name);
    return std::accumulate(counts.begin(), counts.end(), 0.0);
  };
  for (const char* noise : {"solver.noise=amplitude", "solver.noise=poisson"}) {
    const deck::Deck deck = testing::parsed(
        folder.path(),
        {"simulation.counts_per_pattern=200", "simulation.background_fraction=0.2",
         "simulation.step_m=60e-9", "simulation.n_positions=225", "solver.method=lsqml",
         "solver.batch_size=9", "solver.epochs=30", "refine.background_from_epoch=5", noise});
    simulation::simulate(deck, testing::world(), Log(false));
    run::Run run(deck, testing::world(), Log(false));
    while (!run.finished()) run.run_epoch();
    run.write_result(run.measure(), "finished");
    const double expected = sum_of(deck.data.file, "truth/background");
    EXPECT_NEAR(sum_of(deck.output.file, "parameters/background") / expected, 1, 0.6) << noise;
  }
}

}  // namespace
}  // namespace tessera::run

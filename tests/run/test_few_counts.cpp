// What the patterns' counts decide: the noise that solvers minimise, and how far a background goes.
// docs/methods/maximum_likelihood.md, "Few counts"; docs/methods/refinement.md, "Background".

#include <gtest/gtest.h>

#include "analysis/compare.hpp"
#include "run/run.hpp"
#include "simulation/simulation.hpp"
#include "support/deck_text.hpp"

namespace tessera::run {
namespace {

using Overrides = std::vector<std::string>;

class FewCounts : public ::testing::Test {
 protected:
  /// A scan of `counts` a pattern of 32 x 32 pixels, most of which see the beam, and its deck.
  deck::Deck simulated(int counts, Overrides overrides) {
    overrides.push_back(text("simulation.counts_per_pattern=", counts));
    overrides.push_back("output.file=" + (folder_.path() / "result.h5").string());
    const deck::Deck deck = testing::parsed(folder_.path(), overrides);
    simulation::simulate(deck, testing::world(), Log(false));
    return deck;
  }

  /// What the result says it was, after some epochs.
  deck::Deck resolved(const deck::Deck& deck) {
    run::Run run(deck, testing::world(), Log(false));
    while (!run.finished()) run.run_epoch();
    run.write_result(run.measure(), "finished");
    return deck::parse(io::File::open(deck.output.file).read_text("deck"), deck.output.file, {});
  }

  /// Of 0.8 counts a pixel, after 40 epochs of `auto` unless `overrides` say otherwise.
  double object_error(const Overrides& overrides, int counts = 800) {
    Overrides all{"solver.method=auto", "solver.epochs=40", "simulation.n_positions=400",
                  "simulation.step_m=60e-9", "simulation.scan=fermat"};
    all.insert(all.end(), overrides.begin(), overrides.end());
    const deck::Deck deck = simulated(counts, all);
    resolved(deck);
    return analysis::compare_files(deck.output.file, deck.data.file, testing::world()).after.object;
  }

 private:
  const testing::SharedFolder folder_{"few_counts"};
};

TEST_F(FewCounts, AreOfPoissonsNoiseWhereTheMethodTakesIt) {
  const auto noise_of = [&](int counts, const Overrides& overrides) {
    return resolved(simulated(counts, overrides)).solvers.front().noise;
  };
  EXPECT_EQ(noise_of(400, {"solver.method=lsqml"}), "poisson");
  EXPECT_EQ(noise_of(400, {"solver.method=lsqml", "solver.noise=amplitude"}), "amplitude");
  EXPECT_EQ(noise_of(400, {"solver.method=raar", "solver.batch_size=0"}), "amplitude")
      << "it knows no other";
  EXPECT_EQ(noise_of(40000, {"solver.method=lsqml"}), "amplitude");
}

/// Between 1 and 10 counts a pixel: to Poisson's noise dark pixels are dark.
TEST_F(FewCounts, OfBeamsWithBackgroundAreAmplitudesUntilItIsModelled) {
  const Overrides lsqml{"solver.method=lsqml"};
  EXPECT_EQ(resolved(simulated(4000, lsqml)).solvers.front().noise, "amplitude");
  const Overrides fits{"solver.method=lsqml", "refine.background_from_epoch=1"};
  EXPECT_EQ(resolved(simulated(4000, fits)).solvers.front().noise, "poisson");
}

TEST_F(FewCounts, HaveTheBackgroundThatTheRecipeOrTheDeckAsksFor) {
  const auto background_of = [&](int counts, Overrides overrides) {
    overrides.insert(overrides.end(), {"solver.method=auto", "solver.epochs=8"});
    return resolved(simulated(counts, overrides)).refine.background.from_epoch.value();
  };
  EXPECT_EQ(background_of(400, {}), 2) << "the end of the first quarter";
  EXPECT_EQ(background_of(400, {"refine.background_from_epoch=3"}), 3);
  EXPECT_EQ(background_of(40000, {}), 2);
}

/// As they would if each step took all that its few patterns seem to lack: PIE's waves die out.
TEST_F(FewCounts, LeaveTheBeamItsLightThoughTheDeckFitsABackground) {
  for (const char* method : {"solver.method=rpie", "solver.method=auto"}) {
    const Overrides beside{method, "simulation.background_fraction=0.2"};
    Overrides fits = beside;
    fits.emplace_back("refine.background_from_epoch=5");
    EXPECT_LT(object_error(fits, 200), 1.1 * object_error(beside, 200)) << method;
  }
}

/// 0.8 counts a pixel.
TEST_F(FewCounts, GiveABetterObjectThanByTheirAmplitudes) {
  const double by_default = object_error({});
  EXPECT_LT(by_default, 0.9 * object_error({"solver.noise=amplitude"}));
  EXPECT_LT(by_default, 0.2) << "both could fail alike";
}

/// A photon where the model is dark is no full wave of the model's phase: 1.34 times `auto`'s else.
TEST_F(FewCounts, OfDarkPixelsDoNotLeadRaarAstray) {
  const double raar = object_error({"solver.method=raar", "solver.batch_size=0"});
  EXPECT_LT(raar, 1.3 * object_error({}));
}

}  // namespace
}  // namespace tessera::run

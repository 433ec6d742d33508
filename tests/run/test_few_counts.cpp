// What the patterns' counts decide: the noise that solvers minimise, and how far a background goes.
// docs/methods/maximum_likelihood.md, "Few counts"; docs/methods/refinement.md, "Background".

#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "analysis/compare.hpp"
#include "run/dark_pixels.hpp"
#include "run/run.hpp"
#include "simulation/simulation.hpp"
#include "support/deck_text.hpp"

namespace tessera::run {
namespace {

using Overrides = std::vector<std::string>;

/// As `reconstruct` does. Returns epochs after which the noise changed.
std::vector<int> run_all(run::Run& run, int last = std::numeric_limits<int>::max()) {
  std::vector<int> changed;
  while (!run.finished() && run.n_epochs() < last) {
    if (run.adapt_noise()) changed.push_back(run.n_epochs());
    run.run_epoch();
  }
  return changed;
}

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
    run_all(run);
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
  EXPECT_EQ(noise_of(40000, {"solver.method=lsqml"}), "auto") << "errors tell, epoch by epoch";
  EXPECT_EQ(noise_of(40000, {"solver.method=raar", "solver.batch_size=0"}), "auto");
}

/// Poisson's noise believes dark pixels: what lies there must be the sample's, or nothing, or well
/// known.
TEST_F(FewCounts, AreAmplitudesWhereABackgroundLiesInDarkPixels) {
  const auto noise_of = [&](int counts, Overrides overrides) {
    overrides.insert(overrides.end(), {"solver.method=lsqml", "simulation.n_positions=100"});
    return resolved(simulated(counts, overrides)).solvers.front().noise;
  };
  const Overrides background{"simulation.background_fraction=0.1"};
  EXPECT_EQ(noise_of(1000, background), "amplitude");
  EXPECT_EQ(noise_of(1000, {}), "poisson");
  EXPECT_EQ(noise_of(9000, background), "amplitude") << "which nobody models";
  const Overrides fitted{background.front(), "refine.background_from_epoch=1"};
  EXPECT_EQ(noise_of(1000, fitted), "amplitude") << "nor knows well enough";
  EXPECT_EQ(noise_of(9000, fitted), "intensity") << "0.3 counts in the darkest pixels";
  EXPECT_EQ(noise_of(1000, {"simulation.object=siemens_star", "simulation.phase_rad=2"}), "poisson")
      << "the sample's own light is nowhere dark, but differs from position to position";
}

/// Of 2,000 patterns, a hundred of which ignore every pixel. A fourth of the pixels is not trusted.
DarkPixels dark_pixels_of(const std::function<double(std::mt19937&)>& intensity) {
  constexpr int n_patterns = 2000;
  io::ScanInfo info;
  info.pattern = {16, 16};
  info.valid_pixels = ImageStack<std::uint8_t>(1, info.pattern);
  io::PatternTotals totals;
  for (ImageStack<double>* image : {&totals.sum, &totals.roots, &totals.n_ignored})
    *image = ImageStack<double>(1, info.pattern);
  ImageStack<double> mean(1, info.pattern);
  std::mt19937 random(7);
  for (std::size_t i = 0; i < mean.size(); ++i) {
    info.valid_pixels.data()[i] = i % 4 != 0;
    totals.n_ignored.data()[i] = 100;
    for (int n = 100; n < n_patterns; ++n) {
      const int counts = std::poisson_distribution<int>(intensity(random))(random);
      totals.sum.data()[i] += counts;
      totals.roots.data()[i] += std::sqrt(counts);
    }
    mean.data()[i] = i % 4 != 0 ? totals.sum.data()[i] / (n_patterns - 100) : 0;
  }
  return find_dark_pixels(totals, info, mean, n_patterns);
}

TEST(DarkPixelsOf, ABackgroundAreTheSameAtEveryPositionAndOfSpeckleTwiceAsDispersed) {
  const DarkPixels steady = dark_pixels_of([](std::mt19937&) { return 0.1; });
  EXPECT_NEAR(steady.counts, 0.1, 0.02) << "of parts of four pixels, one of them not trusted";
  EXPECT_NEAR(steady.dispersion, 1, 0.05);
  const DarkPixels speckle = dark_pixels_of(std::exponential_distribution<double>(10));
  EXPECT_NEAR(speckle.dispersion, 2, 0.15)
      << "mean I^2 / (mean I)^2 of an exponential distribution";
}

/// Beside the scatter of drawn counts' roots about their mean.
TEST(PoissonError, IsWhatTheCountsNoiseAloneLeaves) {
  std::mt19937 random(3);
  for (const double mu : {0.1, 2.0, 19.0, 21.0, 300.0}) {
    std::poisson_distribution<int> counts(mu);
    constexpr int n_draws = 400000;
    double sum = 0;
    double roots = 0;
    for (int i = 0; i < n_draws; ++i) {
      const int n = counts(random);
      sum += n;
      roots += std::sqrt(n);
    }
    ImageStack<double> mean(1, {2, 2});
    for (double& pixel : mean) pixel = mu;
    mean(0, 0, 0) = 0;  // not trusted
    const double drawn = (sum - roots * roots / n_draws) / sum;
    EXPECT_NEAR(poisson_error(mean) / drawn, 1, 0.02) << mu;
  }
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

/// The mean counts say little of pixels that the sample alone lights. Projections stabilise their
/// amplitudes, which have more of the bias.
TEST_F(FewCounts, InDarkPixelsOfAScanOfManyAreBetterNotTakenForAmplitudes) {
  const auto over_amplitudes = [&](const char* method, Overrides overrides) {
    overrides.insert(overrides.end(),
                     {text("solver.method=", method), "simulation.phase_rad=0.2",
                      "simulation.object=siemens_star", "simulation.n_positions=144"});
    const double by_default = object_error(overrides, 90000);
    overrides.emplace_back("solver.noise=amplitude");
    return by_default / object_error(overrides, 90000);
  };
  for (const char* method : {"auto", "rpie", "lsqml", "adam"})
    EXPECT_LT(over_amplitudes(method, {}), 0.8) << method;
  EXPECT_LT(over_amplitudes("lbfgs", {"solver.batch_size=0"}), 0.8);
  for (const char* method : {"dm", "raar"})
    EXPECT_LT(over_amplitudes(method, {"solver.batch_size=0", "solver.epochs=200"}), 0.94)
        << method;
}

TEST_F(FewCounts, AreAboveTenToldByTheErrorUnlessALittleLightLiesInDarkPixels) {
  const auto noise_of = [&](const char* background, const char* stop = "stop.validation_epochs=0") {
    return resolved(simulated(40000,
                              {"solver.method=auto", "solver.epochs=1", "simulation.phase_rad=0.1",
                               "validation.fraction=0.1", background, stop}))
        .solvers.front()
        .noise;
  };
  EXPECT_EQ(noise_of("simulation.background_fraction=0"), "auto");
  EXPECT_EQ(noise_of("simulation.background_fraction=0.004"), "amplitude") << "0.16 counts";
  EXPECT_EQ(noise_of("simulation.background_fraction=0.05"), "auto") << "2 counts";
  EXPECT_EQ(noise_of("simulation.background_fraction=0", "stop.validation_epochs=3"), "poisson")
      << "from the start: errors of held-out patterns before and after do not compare";
}

/// 200 counts a pixel, of a model that is whole: the bias of roots is what is left.
TEST_F(FewCounts, OfManyArePoissonsOnceTheErrorIsWhatTheirNoiseLeaves) {
  const Overrides sound{"solver.method=auto", "solver.epochs=60", "simulation.n_positions=100",
                        "run.deterministic=true", "output.save_memory=true"};
  deck::Deck deck = simulated(200000, sound);
  run::Run whole(deck, testing::world(), Log(false));
  const std::vector<int> changed = run_all(whole);
  ASSERT_EQ(changed.size(), 1);
  EXPECT_GT(changed[0], 3) << "amplitudes come first";
  EXPECT_EQ(whole.model().detector().noise(), physics::Noise::poisson);

  run::Run first(deck, testing::world(), Log(false));
  run_all(first, changed[0]);
  first.write_result(first.measure(), "stopped");
  deck.run.resume = deck.output.file;
  deck.run.resume_fitted = true;
  run::Run resumed(deck, testing::world(), Log(false));
  EXPECT_TRUE(run_all(resumed).empty()) << "it begins with the noise that is due";
  for (int i = 0; i < 60; ++i)
    EXPECT_EQ(resumed.history()[i].error, whole.history()[i].error) << "epoch " << i + 1;
}

/// Costs by two noises do not compare: the first of the other is the least.
TEST_F(FewCounts, WhatIsFarWorseBehindAChangeOfNoiseIsNotKept) {
  run::Run run(
      simulated(200000, {"solver.method=lsqml", "solver.epochs=60", "simulation.n_positions=100"}),
      testing::world(), Log(false));
  while (!run.finished() && !run.adapt_noise()) run.run_epoch();
  ASSERT_FALSE(run.finished());
  const int n_amplitude = run.n_epochs();
  Kokkos::deep_copy(run.unknowns().object, device::complex(1));
  const EpochFigures spoilt = run.run_epoch();
  EXPECT_EQ(run.history().front().noise, physics::Noise::amplitude);
  EXPECT_EQ(spoilt.noise, physics::Noise::poisson);
  run.go_back();
  EXPECT_LE(run.n_epochs(), n_amplitude);
  EXPECT_LT(run.measure().error, 0.5 * spoilt.error);
}

TEST_F(FewCounts, OfManyStayAmplitudesWhereTheModelLacksMore) {
  const Overrides more{"solver.method=auto", "solver.epochs=60", "simulation.n_positions=100",
                       "simulation.position_error_px=0.5"};
  run::Run run(simulated(200000, more), testing::world(), Log(false));
  EXPECT_TRUE(run_all(run).empty());
}

/// 0.3 counts in dark pixels.
TEST_F(FewCounts, AboveAFaintBackgroundAreBetterByTheirVariances) {
  const Overrides faint{"simulation.background_fraction=0.1", "refine.background_from_epoch=10"};
  const auto error_by = [&](const char* noise) {
    return object_error({faint[0], faint[1], text("solver.noise=", noise)}, 9000);
  };
  const double by_default = error_by("auto");
  EXPECT_LT(by_default, 0.97 * error_by("amplitude"));
  EXPECT_LT(by_default, 0.97 * error_by("poisson"));
}

TEST_F(FewCounts, OfManyAboveAFaintBackgroundHaveTheirVariancesOnceTheErrorSaysSo) {
  const Overrides faint{"solver.method=auto", "solver.epochs=60", "simulation.n_positions=100",
                        "simulation.phase_rad=0.1", "simulation.background_fraction=0.05"};
  run::Run run(simulated(40000, faint), testing::world(), Log(false));
  EXPECT_EQ(run_all(run).size(), 1);
  EXPECT_EQ(run.model().detector().noise(), physics::Noise::intensity);
}

/// A photon where the model is dark is no full wave of the model's phase: 1.34 times `auto`'s else.
TEST_F(FewCounts, OfDarkPixelsDoNotLeadRaarAstray) {
  const double raar = object_error({"solver.method=raar", "solver.batch_size=0"});
  EXPECT_LT(raar, 1.3 * object_error({}));
}

}  // namespace
}  // namespace tessera::run

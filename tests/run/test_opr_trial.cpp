// Whether the beam changes along the scan is tried amid a run, which goes on as if it had not been
// where the beam is steady.

#include <memory>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "run/opr_trial.hpp"
#include "simulation/simulation.hpp"
#include "support/deck_text.hpp"
#include "support/world.hpp"

namespace tessera::run {
namespace {

using testing::world;

class OprTrialTest : public ::testing::Test {
 protected:
  OprTrialTest() : folder_("opr_trial") {}
  deck::Deck simulated(const std::vector<std::string>& more) const {
    std::vector<std::string> overrides{"run.deterministic=true", "solver.epochs=40",
                                       "probe.opr_trial_epoch=30"};
    overrides.insert(overrides.end(), more.begin(), more.end());
    const deck::Deck deck = testing::parsed(folder_.path(), overrides, testing::atoms_deck);
    simulation::simulate(deck, world(), Log(false));
    return deck;
  }
  testing::SharedFolder folder_;
};

/// To its end, or to the first epoch at which `leave` says so: the trial is given up there.
std::unique_ptr<Run> made(const deck::Deck& deck, int leave = -1) {
  OprTrial trial;
  auto run = std::make_unique<Run>(deck, world(), Log(false));
  for (;;) {
    run = trial.before_epoch(std::move(run), Log(false));
    if (run->finished()) return run;
    if (trial.is_on() && run->n_epochs() == leave) run = trial.given_up(std::move(run));
    run->run_epoch();
  }
}

TEST_F(OprTrialTest, ABeamThatChangesKeepsTheModes) {
  const deck::Deck deck = simulated({"simulation.probe_drift=0.2"});
  const auto run = made(deck);
  EXPECT_EQ(run->deck().probe.opr_modes, 2);
  EXPECT_EQ(run->n_epochs(), 40);
  deck::Deck untried = deck;
  untried.probe.opr_trial.from_epoch = -1;
  EXPECT_LT(run->history().back().error, 0.5 * made(untried)->history().back().error);
}

TEST_F(OprTrialTest, ASteadyBeamGoesOnAsIfItHadNotBeenTried) {
  const deck::Deck deck = simulated({});
  deck::Deck untried = deck;
  untried.probe.opr_trial.from_epoch = -1;
  const auto tried = made(deck);
  EXPECT_EQ(tried->deck().probe.opr_modes, 0);
  const std::vector<EpochFigures> expected = made(untried)->history();
  ASSERT_EQ(tried->history().size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(tried->history()[i].error / expected[i].error, 1, 1e-5) << i;
}

/// Two modes explain a good part of it as well; intensities that are fitted leave nothing to them.
TEST_F(OprTrialTest, ABeamThatWaversNeedsIntensitiesNotModes) {
  const std::vector<std::string> wavers{"simulation.intensity_jitter=0.05"};
  EXPECT_EQ(made(simulated(wavers))->deck().probe.opr_modes, 2);
  EXPECT_EQ(made(simulated({wavers[0], "refine.intensity_from_epoch=5"}))->deck().probe.opr_modes,
            0);
}

/// A signal, for one, may end the run amid the trial.
TEST_F(OprTrialTest, GivenUpItIsNotTriedAgain) {
  const auto run = made(simulated({"simulation.probe_drift=0.2"}), 32);
  EXPECT_EQ(run->deck().probe.opr_modes, 0);
  EXPECT_EQ(run->n_epochs(), 40);
}

}  // namespace
}  // namespace tessera::run

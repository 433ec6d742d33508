// Steps of adam go with how much the sample changes the patterns: docs/methods/adam.md.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/io/hdf5.hpp"

#include "run/run.hpp"
#include "run/settled_solvers.hpp"
#include "simulation/simulation.hpp"
#include "support/deck_text.hpp"

namespace tessera::run {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class StepsOfAdam : public ::testing::Test {
 protected:
  /// A deck of `overrides`, and a scan of a sample of this phase.
  deck::Deck simulated(const char* phase_rad, std::vector<std::string> overrides) const {
    overrides.insert(overrides.begin(),
                     {"solver.method=adam", text("simulation.phase_rad=", phase_rad),
                      "output.file=" + (folder_.path() / "result.h5").string()});
    const deck::Deck deck = testing::parsed(folder_.path(), overrides);
    simulation::simulate(deck, testing::world(), Log(false));
    return deck;
  }

 private:
  const testing::SharedFolder folder_{"settled_solvers"};
};

double object_step_of(const deck::Solver& solver) {
  return std::get<settings::Adam>(solver.own).object_step.value();
}

TEST_F(StepsOfAdam, AreLargeWhereTheSampleIsStrong) {
  const deck::Deck weak = simulated("0.1", {});
  const run::Run of_weak(weak, testing::world(), Log(false));
  EXPECT_EQ(object_step_of(of_weak.scan().plan.solvers[0]), 0.01);
  EXPECT_THAT(words_on_steps(weak, of_weak.scan()), IsEmpty());

  const deck::Deck strong = simulated("2", {});
  run::Run of_strong(strong, testing::world(), Log(false));
  EXPECT_EQ(object_step_of(of_strong.scan().plan.solvers[0]), 0.02);
  EXPECT_THAT(words_on_steps(strong, of_strong.scan()), HasSubstr("solver.object_step is 0.02"));
}

TEST_F(StepsOfAdam, OfTheDeckStay) {
  const deck::Deck deck = simulated("2", {"solver.object_step=0.003"});
  const run::Run run(deck, testing::world(), Log(false));
  EXPECT_EQ(object_step_of(run.scan().plan.solvers[0]), 0.003);
  EXPECT_THAT(words_on_steps(deck, run.scan()), IsEmpty());
}

/// A run that goes on from a result has the steps of the run before it.
TEST_F(StepsOfAdam, AreInTheResult) {
  const deck::Deck deck = simulated("2", {});
  run::Run run(deck, testing::world(), Log(false));
  run.run_epoch();
  run.write_result(run.measure(), "stopped");
  const std::string resolved = io::File::open(deck.output.file).read_text("deck");
  EXPECT_EQ(object_step_of(deck::parse(resolved, deck.output.file, {}).solvers[0]), 0.02);
}

}  // namespace
}  // namespace tessera::run

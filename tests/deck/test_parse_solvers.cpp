#include <gmock/gmock.h>

#include "deck/sample_decks.hpp"

namespace tessera::deck {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Solvers, SeveralAreReadInTheirOrder) {
  const Deck deck = parsed(two_solvers);
  ASSERT_EQ(deck.solvers.size(), 2u);
  EXPECT_EQ(deck.solvers[0].method, "rpie");
  EXPECT_EQ(deck.solvers[0].epochs, 5);
  EXPECT_FALSE(deck.solvers[0].batch_size);
  EXPECT_EQ(deck.solvers[1].method, "epie");
  EXPECT_EQ(deck.solvers[1].epochs, 7);
  EXPECT_EQ(deck.solvers[1].batch_size, 8);
  EXPECT_EQ(parsed(xray_deck + "[[solver]]\nepochs = 5\n").solvers.size(), 1u);
}

TEST(Solvers, MistakesNameTheOneThatIsMeant) {
  EXPECT_THAT(parse_complaint("[[solver]]\nepochs = 3\n[[solver]]\nepoch = 3\n"),
              AllOf(StartsWith("deck.toml:4: "), HasSubstr("unknown key solver[1].epoch;"),
                    HasSubstr("did you mean solver[1].epochs?")));
  EXPECT_THAT(
      parse_complaint("[[solver]]\nepochs = 3\n[[solver]]\nepochs = 0\n"),
      AllOf(StartsWith("deck.toml:4: "), HasSubstr("solver[1].epochs = 0 is out of range")));
  EXPECT_THAT(
      parse_complaint(two_solvers, {"solver[1].object_alpha=0.5"}),
      AllOf(HasSubstr("solver[1].object_alpha = 0.5"), HasSubstr("contradicts solver[1].method")));
}

TEST(Solvers, AnOverrideNumbersTheOneThatItMeans) {
  const Deck deck = parsed(two_solvers, {"solver[1].epochs=9", "solver[0].seed=3"});
  EXPECT_EQ(deck.solvers[0].epochs, 5);
  EXPECT_EQ(deck.solvers[0].seed, 3u);
  EXPECT_EQ(deck.solvers[1].epochs, 9);
  EXPECT_EQ(parsed(xray_deck, {"solver[0].epochs=9"}).solvers[0].epochs, 9);
  EXPECT_THAT(parse_complaint(two_solvers, {"solver.epochs=9"}),
              AllOf(HasSubstr("the deck has 2 solvers"), HasSubstr("solver[0].epochs"),
                    HasSubstr("solver[1].epochs")));
  EXPECT_THAT(parse_complaint(two_solvers, {"solver[2].epochs=9"}),
              HasSubstr("there is no solver[2]: the deck has 2 solvers, solver[0] to solver[1]"));
  EXPECT_THAT(parse_complaint(xray_deck, {"solver[1].epochs=9"}),
              HasSubstr("there is no solver[1]: the deck has 1 solver"));
}

TEST(Solvers, AKeyOfAnotherMethodIsRefusedWithTheMethodsThatHaveIt) {
  EXPECT_THAT(parse_complaint(xray_deck + "[solver]\nraar_beta = 0.8\n"),
              AllOf(StartsWith("deck.toml:6: "), HasSubstr("solver.raar_beta is no key of"),
                    HasSubstr("solver.method = \"rpie\""), HasSubstr("that has it: raar")));
  EXPECT_THAT(parse_complaint(xray_deck, {"solver.momentum=0.75"}),
              AllOf(HasSubstr("override 'solver.momentum=0.75': solver.momentum is no key of"),
                    HasSubstr("that has it: mpie, lsqml")));
  EXPECT_THAT(parse_complaint(xray_deck, {"solver.adam_beta1=0.5", "solver.method=ml"}),
              AllOf(HasSubstr("solver.adam_beta1 is no key of solver.method = \"ml\""),
                    HasSubstr("that has it: adam")));
  EXPECT_THAT(parse_complaint(xray_deck + "[solver]\nmethod = \"rpie\"\nobject_alpha = 0.3\n",
                              {"solver.method=auto"}),
              HasSubstr("solver.object_alpha is no key of solver.method = \"auto\""));
  EXPECT_THAT(parse_complaint(two_solvers, {"solver[1].lbfgs_history=5"}),
              AllOf(HasSubstr("solver[1].lbfgs_history is no key of solver[1].method = \"epie\""),
                    HasSubstr("that has it: lbfgs")));
  for (const std::string key : {"object_step", "object_alpha", "final_step"})
    EXPECT_THAT(parse_complaint(xray_deck, {"solver.method=raar", "solver." + key + "=0.5"}),
                HasSubstr("solver." + key + " is no key of solver.method = \"raar\""));
}

TEST(Solvers, HaveTheDefaultsOfTheirMethodWhereverItIsNamed) {
  using settings::Adam;
  const auto adam_with = [](const char* key) {
    return std::get<Adam>(parsed(xray_deck, {"solver.method=adam", key}).solvers[0].own);
  };
  EXPECT_EQ(adam_with("solver.epochs=10").object_step, std::nullopt);
  EXPECT_EQ(adam_with("solver.object_step=auto").object_step, std::nullopt);
  EXPECT_EQ(adam_with("solver.object_step=0").object_step, 0);
  const Deck deck = parsed(xray_deck + "solver.object_step = 0.5\nsolver.method = \"adam\"\n",
                           {"solver.adam_beta1=0.25"});
  const Adam& adam = std::get<Adam>(deck.solvers[0].own);
  EXPECT_EQ(adam.object_step, 0.5);
  EXPECT_EQ(adam.probe_step, 0.005);
  EXPECT_EQ(adam.beta1, 0.25);
  EXPECT_EQ(
      parsed(two_solvers, {"solver[1].method=dm", "solver[1].batch_size=0"}).solvers[1].method,
      "dm");
}

TEST(Solvers, AutomaticOnesGiveWayToTheirRecipe) {
  const auto recipe = [](const std::string& epochs, const std::string& n_slices = "1") {
    return parsed(xray_deck, {"solver.method=auto", "solver.epochs=" + epochs, "solver.seed=7",
                              "object.n_slices=" + n_slices, "object.slice_thickness_m=1e-6"})
        .solvers;
  };
  const std::vector<Solver> solvers = recipe("60");
  ASSERT_EQ(solvers.size(), 2u);
  EXPECT_EQ(solvers[0].method, "lsqml");
  const auto alpha = [](const Solver& lsqml) {
    return std::get<settings::Lsqml>(lsqml.own).alphas.object;
  };
  EXPECT_EQ(std::get<settings::Lsqml>(solvers[0].own).steps.object, 1);
  EXPECT_EQ(alpha(solvers[0]), 0.3);
  EXPECT_EQ(alpha(recipe("60", "2")[0]), 1);
  EXPECT_EQ(solvers[1].method, "ml");
  EXPECT_EQ(solvers[1].batch_size, 0);
  for (const Solver& solver : solvers) EXPECT_EQ(solver.seed, 7u);
  EXPECT_THAT(recipe("61"), ElementsAre(Field(&Solver::epochs, 31), Field(&Solver::epochs, 30)));
  EXPECT_THAT(recipe("1"), ElementsAre(Field(&Solver::epochs, 1)));
  EXPECT_THAT(recipe("60", "2"),
              ElementsAre(Field(&Solver::epochs, 45), Field(&Solver::epochs, 15)));
  EXPECT_THAT(recipe("200", "2"),
              ElementsAre(Field(&Solver::epochs, 175), Field(&Solver::epochs, 25)));
  EXPECT_THAT(recipe("3", "2"), ElementsAre(Field(&Solver::epochs, 3)));
  EXPECT_THAT(parsed(xray_deck,
                     {"solver.method=auto", "solver.epochs=201", "experiment.propagation=fresnel"})
                  .solvers,
              ElementsAre(Field(&Solver::epochs, 101), Field(&Solver::epochs, 100)));
  const Deck covering = parsed(xray_deck, {"solver.method=auto", "solver.batch_coverage=3"});
  EXPECT_EQ(covering.solvers[0].batch_coverage, 3);
  EXPECT_EQ(covering.solvers[1].batch_size, 0);
  EXPECT_FALSE(covering.solvers[1].batch_coverage);
  const Deck between = parsed(two_solvers, {"solver[0].method=auto", "solver[0].epochs=8"});
  ASSERT_EQ(between.solvers.size(), 3u);
  EXPECT_EQ(between.solvers[2].method, "epie");
  EXPECT_THAT(parse_complaint(xray_deck, {"solver.method=auto", "solver.object_step=1"}),
              AllOf(HasSubstr("solver.object_step is no key of solver.method = \"auto\""),
                    HasSubstr("lsqml")));
}

TEST(Solvers, AutomaticOnesFitABackgroundWithXRays) {
  const auto begins = [](const std::string& toml, const std::vector<std::string>& keys) {
    return parsed(toml, keys).refine.background.from_epoch;
  };
  EXPECT_EQ(begins(xray_deck, {"solver.method=auto"}), 10);
  EXPECT_EQ(begins(xray_deck, {"solver.method=auto", "solver.epochs=20"}), 5);
  EXPECT_EQ(begins(xray_deck, {"solver.method=auto", "refine.background_from_epoch=-1"}), -1);
  EXPECT_EQ(begins(xray_deck, {"solver.method=auto", "data.background=dark"}), -1);
  EXPECT_EQ(begins(electron_deck, {"solver.method=auto"}), -1);
  EXPECT_EQ(begins(xray_deck, {}), -1);
  EXPECT_EQ(begins(two_solvers, {"solver[0].method=auto"}), -1);
}

TEST(Solvers, AutomaticOnesTryWhetherTheBeamChanges) {
  const auto tries = [](const std::string& toml, std::vector<std::string> keys) {
    keys.insert(keys.begin(), "solver.epochs=60");
    return parsed(toml, keys).probe.opr_trial.from_epoch;
  };
  EXPECT_EQ(tries(xray_deck, {"solver.method=auto"}), 20);
  EXPECT_EQ(tries(electron_deck, {"solver.method=auto"}), 20);
  EXPECT_EQ(tries(near_deck, {"solver.method=auto"}), 20);
  for (const char* excluded : {"solver.epochs=49", "probe.opr_modes=1", "probe.opr_trial_epoch=-1",
                               "object.n_modes=2", "solver.method=lsqml"})
    EXPECT_EQ(tries(xray_deck, {"solver.method=auto", excluded}), -1) << excluded;
}

TEST(Solvers, AutomaticOnesSetTheScaleBeforeTheirSecondPart) {
  const auto acts = [](const std::string& toml, const std::vector<std::string>& keys) {
    return parsed(toml, keys).constraints.probe_power.from_epoch;
  };
  EXPECT_EQ(acts(xray_deck, {"solver.method=auto", "solver.epochs=60"}), 29);
  EXPECT_EQ(acts(electron_deck, {"solver.method=auto", "solver.epochs=1"}), 0);
  EXPECT_EQ(acts(xray_deck, {"solver.method=auto", "constraints.probe_power_from_epoch=-1"}), -1);
  EXPECT_EQ(acts(xray_deck, {"solver.method=auto", "object.initial=stxm"}), -1);
  EXPECT_EQ(
      acts(xray_deck, {"solver.method=auto", "solver.epochs=60", "solver.probe_start_epoch=30"}),
      -1);
  EXPECT_EQ(acts(xray_deck, {}), -1);
  EXPECT_EQ(acts(two_solvers, {"solver[0].method=auto"}), -1);
}

}  // namespace
}  // namespace tessera::deck

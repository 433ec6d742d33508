#include <algorithm>

#include <gmock/gmock.h>

#include "deck/keys.hpp"
#include "deck/methods.hpp"
#include "deck/sample_decks.hpp"

namespace tessera::deck {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

/// A deck that uses one option.
Deck using_option(Option option) {
  Deck deck = parsed(xray_deck);
  deck.solvers[0].batch_size = 0;
  switch (option) {
    case Option::probe_modes:
      deck.probe.n_modes = 3;
      break;
    case Option::object_modes:
      deck.object.n_modes = 2;
      break;
    case Option::opr:
      deck.probe.opr_modes = 1;
      break;
    case Option::slices:
      deck.object.n_slices = 2;
      break;
    case Option::positions:
      deck.refine.positions.from_epoch = 0;
      break;
    case Option::constraints:
      break;
    case Option::background:
      deck.refine.background.from_epoch = 0;
      break;
    case Option::intensity:
      deck.refine.intensity.from_epoch = 0;
      break;
    case Option::fly_scan:
      deck.experiment.fly_sub_positions = 4;
      break;
    case Option::near_field:
      deck.experiment.propagation = "fresnel";
      break;
    case Option::point_spread:
      deck.experiment.point_spread_px = 0.5;
      break;
    case Option::noise:
      deck.solvers[0].noise = "poisson";
      break;
    case Option::batches:
      deck.solvers[0].batch_size = 32;
      break;
  }
  return deck;
}

constexpr auto n_options = static_cast<int>(Option::batches) + 1;

std::string refusal(Deck deck, const std::string& method) {
  deck.solvers[0].method = method;
  return excluded_option(deck, 0);
}

const std::vector<std::string> every_method{"epie",  "rpie", "mpie",  "dm",  "raar",
                                            "lsqml", "ml",   "lbfgs", "adam"};

TEST(Methods, ADeckIsRefusedExactlyWhereTheTableSaysNo) {
  for (const std::string& method : every_method)
    for (int i = 0; i < n_options; ++i) {
      const auto option = static_cast<Option>(i);
      EXPECT_EQ(refusal(using_option(option), method).empty(), allows(method, option))
          << method << " with option " << i;
    }
}

/// Written down apart from the table.
TEST(Methods, AllowWhatTheirEquationsDo) {
  for (const char* method : {"dm", "raar"})
    for (const Option option :
         {Option::opr, Option::slices, Option::background, Option::intensity, Option::fly_scan,
          Option::point_spread, Option::noise, Option::object_modes, Option::batches})
      EXPECT_FALSE(allows(method, option)) << method;
  for (const char* method : {"ml", "lbfgs"}) EXPECT_FALSE(allows(method, Option::batches));
  for (const char* method : {"lsqml", "adam"})
    for (int i = 0; i < n_options; ++i) EXPECT_TRUE(allows(method, static_cast<Option>(i)));
}

TEST(Methods, ARefusalNamesTheSettingAndTheMethodsThatGoWithIt) {
  EXPECT_THAT(refusal(using_option(Option::slices), "dm"),
              AllOf(HasSubstr("solver.method = \"dm\" does not go with object.n_slices = 2"),
                    HasSubstr("epie, rpie, mpie, lsqml, ml, lbfgs, adam")));
  EXPECT_THAT(parse_complaint(xray_deck, {"solver.method=dm", "solver.noise=poisson"}),
              AllOf(HasSubstr("solver.method = \"dm\" does not go with solver.noise = \"poisson\""),
                    HasSubstr("epie, rpie, mpie, lsqml, ml, lbfgs, adam")));
  Deck two = using_option(Option::batches);
  two.solvers.push_back(two.solvers[0]);
  two.solvers[1].method = "ml";
  EXPECT_THAT(excluded_option(two, 0), IsEmpty());
  EXPECT_THAT(excluded_option(two, 1), HasSubstr("solver[1].method = \"ml\" does not go with "
                                                 "solver[1].batch_size = 32"));
}

TEST(Methods, ASolverThatEndsBeforeRefinementIsNotConcerned) {
  Deck deck = using_option(Option::intensity);
  deck.solvers[0].method = "dm";
  deck.solvers[0].epochs = 20;
  deck.solvers.push_back({.method = "lsqml"});
  deck.refine.intensity.from_epoch = 19;
  EXPECT_THAT(excluded_option(deck, 0), HasSubstr("refine.intensity_from_epoch = 19"));
  deck.refine.intensity.from_epoch = 20;
  EXPECT_THAT(excluded_option(deck, 0), IsEmpty());
  EXPECT_THAT(excluded_option(deck, 1), IsEmpty());
}

TEST(Methods, EveryMethodThatADeckMayNameIsInTheTable) {
  Deck deck;
  const std::vector<Key> all = keys(deck);
  const auto method = std::ranges::find(all, "solver.method", &Key::name);
  EXPECT_EQ(method->choices.size(), every_method.size() + 1);
  for (const std::string& choice : method->choices)
    EXPECT_TRUE(choice == settings::automatic || std::ranges::count(every_method, choice) == 1)
        << choice;
  for (const std::string& name : every_method)
    EXPECT_THAT(methods_table(), HasSubstr("\n" + name + " "));
}

}  // namespace
}  // namespace tessera::deck

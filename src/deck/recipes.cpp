#include "recipes.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace tessera::deck {
namespace {

bool is_automatic(const Deck& deck) {
  return deck.solvers.size() == 1 && deck.solvers[0].method == settings::automatic;
}

/// @param solver that is automatic
std::vector<Solver> recipe_of(const Deck& deck, const Solver& solver) {
  return solver.recipe(deck.object.n_slices > 1);
}

/// Of a background that the deck does not speak of. What electrons see is mostly weak: it does not
/// tell one from the bright field.
int background_from_epoch(const Deck& deck) {
  const bool fits = is_automatic(deck) && deck.experiment.energy_eV && !deck.data.background;
  return fits ? std::min(10, deck.solvers[0].epochs / 4) : -1;
}

/// Of a scale between probe and object that the deck does not speak of. Steps in batches let it
/// drift, the line search behind them does not.
int probe_power_from_epoch(const Deck& deck) {
  if (!is_automatic(deck)) return -1;
  const bool starts_with_its_own = deck.object.initial == "stxm" || deck.object.initial == "file" ||
                                   deck.probe.initial == "file";
  const int last = recipe_of(deck, deck.solvers[0]).front().epochs - 1;
  const bool fits_probe = deck.solvers[0].probe_start_epoch <= last;
  return fits_probe && !starts_with_its_own ? last : -1;
}

/// Of a beam of which the deck does not say that it changes. Where that was looked at.
int opr_trial_epoch(const Deck& deck) {
  constexpr int fewest_epochs = 50;
  const bool fits = is_automatic(deck) && deck.solvers[0].epochs >= fewest_epochs &&
                    deck.object.n_slices == 1 && deck.object.n_modes == 1 &&
                    deck.experiment.fly_sub_positions == 1;
  if (!fits || deck.probe.opr_modes > 0) return -1;
  return recipe_of(deck, deck.solvers[0]).front().epochs - settings::OprTrial::n_epochs;
}

/// What the deck does not say.
template <class Settings>
void choose(Settings& settings, int from_epoch) {
  if (settings.from_epoch) return;
  settings.from_epoch = from_epoch;
  settings.is_of_recipe = true;
}

}  // namespace

void put_recipes(Deck& deck) {
  choose(deck.constraints.probe_power, probe_power_from_epoch(deck));
  choose(deck.refine.background, background_from_epoch(deck));
  choose(deck.probe.opr_trial, opr_trial_epoch(deck));
  std::vector<Solver> solvers;
  for (const Solver& solver : deck.solvers)
    if (solver.method == settings::automatic)
      std::ranges::copy(recipe_of(deck, solver), std::back_inserter(solvers));
    else
      solvers.push_back(solver);
  deck.solvers = std::move(solvers);
}

}  // namespace tessera::deck

#include "run/few_counts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/core.h>

#include "tessera/base/text.hpp"

namespace tessera::run {
namespace {

/// Below 10 counts a pixel the bias of their roots is the greater part of an object's error. A
/// background that nobody models is the greater error to Poisson's noise, which believes dark
/// pixels, down to 1; electrons have next to none.
bool has_few(const deck::Deck& deck, const Scan& scan) {
  const bool models_background = scan.plan.has_background || !deck.experiment.energy_eV;
  return counts_of(scan) < (models_background ? 10 : 1);
}

}  // namespace

double counts_of(const Scan& scan) {
  return scan.info.type == io::PatternType::f32 ? std::numeric_limits<double>::infinity()
                                                : scan.counts_per_pixel();
}

void settle_by_counts(const deck::Deck& deck, Scan& scan) {
  Plan& plan = scan.plan;
  const bool is_poisson = has_few(deck, scan);
  for (deck::Solver& solver : plan.solvers) {
    if (solver.noise != "auto") continue;
    const bool takes_it = settings::allows(solver.method, settings::Option::noise);
    solver.noise = is_poisson && takes_it ? "poisson" : "amplitude";
  }
  take_noise(deck, scan.info, plan);
}

double dark_amplitude(const deck::Deck& deck, const deck::Solver& solver, const Scan& scan) {
  if (solver.method != "raar" || !has_few(deck, scan)) return physics::least_dark_amplitude;
  // docs/methods/difference_map.md has why, and why `dm` is spared it.
  return std::min(0.3, std::sqrt(scan.counts_per_pixel()) / 2);
}

std::string words_on_counts(const deck::Deck& deck, const Scan& scan) {
  std::string words;
  for (std::size_t stage = 0; stage < deck.solvers.size(); ++stage) {
    if (deck.solvers[stage].noise != "auto" || !has_few(deck, scan)) continue;
    const std::string& method = deck.solvers[stage].method;
    words = settings::allows(method, settings::Option::noise)
                ? "solver.noise is \"poisson\""
                : text("few for \"", method,
                       "\", which knows amplitudes alone and takes dark pixels for darker than "
                       "they are");
  }
  if (words.empty()) return "";
  return fmt::format("patterns hold {:.2g} counts a pixel: {}", scan.counts_per_pixel(), words);
}

}  // namespace tessera::run

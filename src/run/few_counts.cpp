#include "run/few_counts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/core.h>

#include "tessera/base/text.hpp"

namespace tessera::run {
namespace {

/// A background that nobody models is the greater error down to 1 count; electrons have next to
/// none.
bool has_few(const deck::Deck& deck, const Scan& scan) {
  const bool models_background = scan.plan.has_background || !deck.experiment.energy_eV;
  return counts_of(scan) < (models_background ? few_counts : 1);
}

/// Counts are Poisson's where dark pixels are dark, or hold what the sample scatters, or, of few,
/// so much that the bias of roots is the greater error. What else lies there is a background, which
/// is known too little for the weight that dark pixels have in Poisson's noise. Of many counts that
/// is true of all that the model lacks.
bool is_poisson(const deck::Deck& deck, const Scan& scan) {
  const double counts = counts_of(scan);
  if (counts >= many_counts) return false;
  const bool are_few = counts < few_counts;
  const auto& [darkest, dispersion] = scan.dark_pixels;
  if (darkest < (are_few ? 0.002 : 0.0005) * counts) return true;
  const bool vary = dispersion > 1.15;
  return are_few ? has_few(deck, scan) && (darkest > 0.25 || vary) : vary;
}

}  // namespace

double counts_of(const Scan& scan) {
  return scan.info.type == io::PatternType::f32 ? std::numeric_limits<double>::infinity()
                                                : scan.counts_per_pixel();
}

void settle_by_counts(const deck::Deck& deck, Scan& scan) {
  const bool wants_poisson = is_poisson(deck, scan);
  for (deck::Solver& solver : scan.plan.solvers) {
    if (solver.noise != "auto") continue;
    const bool takes_it = settings::allows(solver.method, settings::Option::noise);
    solver.noise = wants_poisson && takes_it ? "poisson" : "amplitude";
  }
}

double dark_amplitude(const deck::Deck& deck, const deck::Solver& solver, const Scan& scan) {
  if (solver.method != "raar" || !has_few(deck, scan)) return physics::least_dark_amplitude;
  // docs/methods/difference_map.md has why, and why `dm` is spared it.
  return std::min(0.3, std::sqrt(scan.counts_per_pixel()) / 2);
}

std::string words_on_counts(const deck::Deck& deck, const Scan& scan) {
  const bool are_few = counts_of(scan) < few_counts;
  std::string words;
  for (std::size_t stage = 0; stage < deck.solvers.size(); ++stage) {
    if (deck.solvers[stage].noise != "auto") continue;
    const std::string& method = deck.solvers[stage].method;
    const std::string& noise = scan.plan.solvers[stage].noise;
    if (noise == "poisson")
      words = are_few ? R"(solver.noise is "poisson")"
                      : R"(few of them in dark pixels; solver.noise is "poisson")";
    else if (are_few && settings::allows(method, settings::Option::noise))
      words = text("dark pixels have light, a background perhaps; solver.noise is \"", noise, '"');
    else if (has_few(deck, scan))
      words =
          text("few for \"", method,
               "\", which knows amplitudes alone and takes dark pixels for darker than they are");
  }
  if (words.empty()) return "";
  return fmt::format("patterns hold {:.2g} counts a pixel: {}", scan.counts_per_pixel(), words);
}

}  // namespace tessera::run

#include "run/few_counts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/core.h>

#include "tessera/base/text.hpp"

namespace tessera::run {
namespace {

/// Errors over what Poisson's noise leaves from which on what the model lacks is the greater part.
constexpr double whole_model = 1.05;
/// Counts of dark pixels: below, amplitudes lose a background with their bias.
constexpr double lit = 0.25;
/// DarkPixels::dispersion from which on the light is the sample's.
constexpr double speckled = 1.15;

/// A background that nobody models is the greater error down to 1 count; electrons have next to
/// none.
bool has_few(const deck::Deck& deck, const Scan& scan) {
  const bool models_background = scan.plan.has_background || !deck.experiment.energy_eV;
  return counts_of(scan) < (models_background ? few_counts : 1);
}

bool are_dark(const Scan& scan) {
  const double counts = counts_of(scan);
  return scan.dark_pixels.counts < (counts < few_counts ? 0.002 : 0.0005) * counts;
}

/// Counts may be Poisson's where dark pixels are dark, or hold what the sample scatters. What else
/// lies there is a background, which is known too little for the weight that dark pixels have in
/// Poisson's noise, unless it is so much that they have little. Of many counts what the model lacks
/// may be the greater error: who adapts will see, others refuse.
bool may_be_poisson(const deck::Deck& deck, const Scan& scan, bool adapts) {
  const double counts = counts_of(scan);
  if (std::isinf(counts) || (counts >= many_counts && !adapts)) return false;
  if (are_dark(scan)) return true;
  const auto& [darkest, dispersion] = scan.dark_pixels;
  const bool vary = dispersion > speckled;
  const bool are_lit = darkest > lit;
  if (counts < few_counts) return has_few(deck, scan) && (are_lit || vary);
  return vary || (are_lit && adapts);
}

/// A background of half a count or so. What the sample scatters there is hardly told, and variances
/// found from single counts draw it to nothing; Poisson's noise and amplitudes follow the noise
/// (docs/methods/maximum_likelihood.md).
bool has_faint_background(const Scan& scan) {
  const auto& [darkest, dispersion] = scan.dark_pixels;
  return !are_dark(scan) && darkest > lit && darkest < 1 && dispersion <= speckled;
}

/// Projections move amplitudes, and have no likelihood.
bool is_projection(const deck::Solver& solver) {
  return !settings::allows(solver.method, settings::Option::noise);
}

}  // namespace

double counts_of(const Scan& scan) {
  return scan.info.type == io::PatternType::f32 ? std::numeric_limits<double>::infinity()
                                                : scan.counts_per_pixel();
}

void settle_by_counts(const deck::Deck& deck, Scan& scan) {
  for (deck::Solver& solver : scan.plan.solvers) {
    if (!settings::noise_is_open(solver.noise)) continue;
    // Errors of held-out patterns are by the noise model, and a stop compares them.
    const bool adapts = deck.stop.validation_epochs == 0;
    const bool by_error = adapts && counts_of(scan) >= few_counts;
    if (!may_be_poisson(deck, scan, adapts) || (!by_error && is_projection(solver)))
      solver.noise = "amplitude";
    else if (!by_error)
      solver.noise = has_faint_background(scan) ? "intensity" : "poisson";
  }
}

physics::Noise noise_after(std::span<const EpochFigures> history, const deck::Solver& solver,
                           const Scan& scan) {
  if (!settings::noise_is_open(solver.noise)) return noise_from(solver.noise);
  const double bound = whole_model * scan.poisson_error;
  const bool is_whole = std::ranges::any_of(
      history, [&](const EpochFigures& figures) { return figures.error < bound; });
  if (!is_whole) return physics::Noise::amplitude;
  if (is_projection(solver)) return physics::Noise::stabilised;
  return has_faint_background(scan) ? physics::Noise::intensity : physics::Noise::poisson;
}

physics::Noise noise_of_last(std::span<const EpochFigures> history, const deck::Solver& solver,
                             const Scan& scan) {
  return noise_after(history.empty() ? history : history.first(history.size() - 1), solver, scan);
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
    if (!settings::noise_is_open(deck.solvers[stage].noise)) continue;
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

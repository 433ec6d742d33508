#include "run/settled_solvers.hpp"

#include <variant>

#include <fmt/core.h>

#include "run/few_counts.hpp"

namespace tessera::run {
namespace {

using settings::Adam;

/// E of the mean pattern beyond that of Poisson's noise: of the matrix's scans those that want the
/// larger step have 0.011 and 0.045, the others 0.0044 at most.
constexpr double much_changed = 0.007;

/// 0: not known, for patterns of fractions may be scaled, and their noise with them.
double change_by_sample(const Scan& scan) {
  return scan.poisson_error > 0 ? scan.empty_error - scan.poisson_error : 0;
}

}  // namespace

void settle_solvers(const deck::Deck& deck, Scan& scan) {
  settle_by_counts(deck, scan);
  for (deck::Solver& solver : scan.plan.solvers)
    if (auto* adam = std::get_if<Adam>(&solver.own); adam && !adam->object_step)
      adam->object_step =
          change_by_sample(scan) > much_changed ? Adam::large_object_step : Adam::small_object_step;
}

std::string words_on_steps(const deck::Deck& deck, const Scan& scan) {
  for (std::size_t stage = 0; stage < deck.solvers.size(); ++stage) {
    const auto* of_deck = std::get_if<Adam>(&deck.solvers[stage].own);
    if (!of_deck || of_deck->object_step) continue;
    const auto& settled = std::get<Adam>(scan.plan.solvers[stage].own);
    if (settled.object_step == Adam::large_object_step)
      return fmt::format(
          "the sample changes the patterns much, an error of {:.2g} beyond noise: "
          "solver.object_step is {}",
          change_by_sample(scan), *settled.object_step);
  }
  return "";
}

}  // namespace tessera::run

#include "stop_rules.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tessera/base/text.hpp"

namespace tessera::run {
namespace {

using History = std::span<const EpochFigures>;

/// The lines at the end that have the last one's `field`.
template <class Field>
History alike_at_end(History history, Field field) {
  std::size_t n = 0;
  while (n < history.size() && history[history.size() - 1 - n].*field == history.back().*field) ++n;
  return history.last(n);
}

/// The lines at the end that the same solver made.
History last_stage(History history) {
  return alike_at_end(history, &EpochFigures::stage);
}

/// Whether holds(r_factor before, r_factor after) for each of the last `n` steps within a stage.
template <class Holds>
bool last_steps_all(History history, int n, const Holds& holds) {
  const History lines = last_stage(history);
  const auto n_steps = static_cast<std::size_t>(n);
  if (lines.size() < n_steps + 1) return false;
  for (std::size_t i = lines.size() - n_steps; i < lines.size(); ++i)
    if (!holds(lines[i - 1].r_factor, lines[i].r_factor)) return false;
  return true;
}

bool on_plateau(const deck::Stop& stop, History history) {
  if (stop.plateau_change == 0) return false;
  return last_steps_all(history, stop.plateau_epochs, [&](double before, double after) {
    return std::abs(after - before) < stop.plateau_change * before;
  });
}

bool diverges(const deck::Stop& stop, History history) {
  if (stop.divergence_epochs == 0) return false;
  return last_steps_all(history, stop.divergence_epochs,
                        [](double before, double after) { return after > before; });
}

/// A solver's errors far above what it has reached, and above where it began; with another noise it
/// begins anew, and full steps may hold the error far above that of amplitudes. Swings come back.
/// Constraints raise errors as well, for good: beside them it is where the run began that counts.
bool runs_away(const deck::Deck& deck, History history) {
  constexpr std::size_t n_epochs = 3;
  const History lines = alike_at_end(last_stage(history), &EpochFigures::noise);
  if (deck.stop.divergence_ratio == 0 || lines.size() <= n_epochs) return false;
  const double lowest = std::ranges::min(lines, {}, &EpochFigures::error).error;
  const bool constrained = deck.constraints.have_changed_intensities(history.size());
  const double first = (constrained ? history : lines).front().error;
  const double bound = std::max(deck.stop.divergence_ratio * lowest, first);
  return std::ranges::all_of(lines.last(n_epochs),
                             [&](const EpochFigures& line) { return line.error > bound; });
}

/// The last looks of a solver at the held-out positions have found nothing better.
bool fits_noise(const deck::Stop& stop, History history) {
  if (stop.validation_epochs == 0) return false;
  double lowest = std::numeric_limits<double>::infinity();
  int n_since = 0;
  for (const EpochFigures& line : last_stage(history)) {
    if (std::isnan(line.validation_error)) continue;
    n_since = line.validation_error < lowest ? 0 : n_since + 1;
    lowest = std::min(lowest, line.validation_error);
  }
  return n_since >= stop.validation_epochs;
}

bool has_made_its_epochs(const deck::Deck& deck, History history) {
  const int stage = history.back().stage;
  return epochs_in_stage(history, stage) >= deck.solvers[static_cast<std::size_t>(stage)].epochs;
}

}  // namespace

int epochs_in_stage(History history, int stage) {
  return static_cast<int>(std::ranges::count(history, stage, &EpochFigures::stage));
}

int stage_of_next_epoch(const deck::Deck& deck, History history) {
  if (history.empty()) return 0;
  const int stage = history.back().stage;
  return has_made_its_epochs(deck, history) || on_plateau(deck.stop, history) ? stage + 1 : stage;
}

int epochs_left(const deck::Deck& deck, History history) {
  int left = 0;
  const auto n_stages = static_cast<int>(deck.solvers.size());
  for (int stage = stage_of_next_epoch(deck, history); stage < n_stages; ++stage)
    left += deck.solvers[static_cast<std::size_t>(stage)].epochs - epochs_in_stage(history, stage);
  return left;
}

bool is_near_lowest(History history) {
  const History lines = last_stage(history);
  return lines.back().error <= 1.2 * std::ranges::min(lines, {}, &EpochFigures::error).error;
}

StopRule ending_rule(const deck::Deck& deck, History history, double seconds) {
  const deck::Stop& stop = deck.stop;
  if (stop.error > 0 && !history.empty() && history.back().error <= stop.error)
    return StopRule::error;
  if (diverges(stop, history)) return StopRule::divergence;
  if (runs_away(deck, history)) return StopRule::runaway;
  if (fits_noise(stop, history)) return StopRule::validation;
  if (stop.time_s > 0 && seconds >= stop.time_s) return StopRule::time;
  return StopRule::none;
}

StopRule last_rule(const deck::Deck& deck, History history) {
  const bool by_epochs = history.empty() || has_made_its_epochs(deck, history);
  return by_epochs ? StopRule::none : StopRule::plateau;
}

std::string status_text(StopRule rule, const deck::Stop& stop) {
  switch (rule) {
    case StopRule::plateau:
      return text("stopped: plateau (r_factor changed less than ", stop.plateau_change, " for ",
                  stop.plateau_epochs, " epochs)");
    case StopRule::time:
      return text("stopped: time (", stop.time_s, " s are over)");
    case StopRule::error:
      return text("stopped: target error (not above ", stop.error, ")");
    case StopRule::divergence:
      return text("stopped: divergence (r_factor rose for ", stop.divergence_epochs, " epochs)");
    case StopRule::runaway:
      return text("stopped: divergence (error above ", stop.divergence_ratio,
                  " times its lowest for 3 epochs)");
    case StopRule::validation:
      return text("stopped: validation (no lower error of held-out positions in ",
                  stop.validation_epochs, " looks)");
    case StopRule::none:
      break;
  }
  return "finished";
}

}  // namespace tessera::run

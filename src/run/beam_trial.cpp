#include "beam_trial.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/core.h>

#include "run/settled_solvers.hpp"
#include "run/stop_signals.hpp"
#include "stop_rules.hpp"

namespace tessera::run {
namespace {

/// Three tell nearly as well as five, and thirty no better (docs/methods/start_values.md). 0: a run
/// so short is a look, which trials would hold up.
int n_tried(const deck::Deck& deck) {
  constexpr int fewest = 3;
  constexpr int most = 5;
  const int tenth = epochs_left(deck, {}) / 10;
  return tenth < fewest ? 0 : std::min(tenth, most);
}

/// Errors below what Poisson's noise leaves say how well noise is fitted.
std::size_t best_of(std::vector<double> errors, const Scan& scan) {
  if (errors.front() < scan.poisson_error) return 0;
  errors.front() *= scan.first_unless_below;
  return static_cast<std::size_t>(std::ranges::min_element(errors) - errors.begin());
}

double error_after(Run& run, const comm::Communicator& comm) {
  try {
    while (!run.finished()) {
      run.run_epoch();
      comm.together(end_at_once);
    }
    return run.history().empty() ? 0 : run.history().back().error;
  } catch (const AgreedError& error) {
    if (error.exit_code() != ExitCode::not_finite) throw;
    return std::numeric_limits<double>::infinity();
  }
}

/// What is fitted beside object and probe starts with the run, not with a trial: some of it is the
/// scan's own, and would keep what a trial made of it.
deck::Deck without_refinement(const deck::Deck& deck) {
  deck::Deck made = deck;
  made.refine = {.opr = deck.refine.opr, .background = {.from_epoch = -1}};
  return made;
}

/// Who tries them: PIE and LSQ-ML themselves, for other methods PIE, as these explain the patterns
/// by a wrong beam nearly as well within a few epochs (docs/methods/start_values.md).
deck::Solver trial_solver(const deck::Solver& first) {
  if (std::holds_alternative<settings::Pie>(first.own) ||
      std::holds_alternative<settings::Lsqml>(first.own))
    return first;
  deck::Solver solver = deck::Solver::of("rpie");
  solver.seed = first.seed;
  solver.noise = first.noise;
  if (first.batch_size > 0) solver.batch_size = first.batch_size;
  return solver;
}

/// The scan's plan for these solvers.
void plan_solvers(const deck::Deck& deck, Scan& scan) {
  plan_batches(deck, scan.grid, scan.plan);
  settle_solvers(deck, scan);
}

/// By one run after another, which share what `parts` hold.
std::vector<double> errors_with(const std::vector<StartBeam>& beams, const deck::Deck& trial,
                                const comm::Communicator& comm, const Log& log, RunParts& parts) {
  const io::MomentsOfPositions moments = parts.scan.moments;  // a run takes them from its scan
  std::vector<double> errors;
  for (const StartBeam& beam : beams) {
    parts.scan.beam = beam;
    auto run =
        std::make_unique<Run>(trial, comm, std::move(parts.scan), log, std::move(parts.transport));
    errors.push_back(error_after(*run, comm));
    parts = Run::take_apart(std::move(run));
    parts.scan.moments = moments;
  }
  return errors;
}

/// A far field's. @param scan of which the beam is that of number `best`
void start_with_defocus(const deck::Probe& probe, const std::vector<double>& errors,
                        const std::vector<StartBeam>& beams, std::size_t best, int n_epochs,
                        const Log& log, Scan& scan) {
  std::vector<double> defoci_m;
  std::string tried;
  for (const StartBeam& beam : beams) {
    tried += fmt::format("{}{:.6f} with {:g}", tried.empty() ? "" : ", ", errors[defoci_m.size()],
                         beam.defocus_m);
    defoci_m.push_back(beam.defocus_m);
  }
  const bool is_found = best > 0 && !probe.says_defocus() && beams.size() == 3;
  if (is_found) scan.beam.defocus_m = lowest_m(errors, defoci_m, best);
  const std::string line = fmt::format(
      "start probe: the error is {} as probe.defocus_m after {} epochs: the beam starts with {:g}",
      tried, n_epochs, scan.beam.defocus_m);
  if (best == 0 || !probe.says_defocus())
    log.info(line);
  else
    log.warning(line + "; probe.measure_curvature = false keeps the deck's");
}

}  // namespace

double lowest_m(const std::vector<double>& errors, const std::vector<double>& defoci_m,
                std::size_t best) {
  const double a_m = defoci_m[1];
  const double b_m = defoci_m[2];
  const double to_a = (errors[1] - errors[0]) / a_m;
  const double to_b = (errors[2] - errors[0]) / b_m;
  const double curvature = (to_a - to_b) / (a_m - b_m);
  const double found_m = (curvature * a_m - to_a) / (2 * curvature);
  const bool is_between = curvature > 0 && found_m / a_m > 0 && found_m / a_m < 1;
  return is_between ? found_m : defoci_m[best];
}

RunParts settle_beam(const deck::Deck& deck, const comm::Communicator& comm, Scan scan,
                     const Log& log) {
  const std::vector<StartBeam> beams = std::exchange(scan.beams, {});
  const int n_epochs = n_tried(deck);
  if (beams.size() < 2 || n_epochs == 0) return {std::move(scan), nullptr};
  deck::Deck trial = without_refinement(deck);
  trial.solvers = {trial_solver(deck.solvers.front())};
  trial.solvers.front().epochs = n_epochs;
  plan_solvers(trial, scan);
  RunParts parts{std::move(scan), nullptr};
  const std::vector<double> errors = errors_with(beams, trial, comm, log, parts);
  const bool in_near_field = parts.scan.plan.optics.is_near_field();
  const std::size_t best = best_of(errors, parts.scan);
  parts.scan.beam = beams[best];
  plan_solvers(deck, parts.scan);
  if (in_near_field)
    log.info(
        fmt::format("start probe: the error is {:.6f} with a flat wave, {:.6f} with one curved "
                    "as patterns move, after {} epochs: the beam starts {}",
                    errors[0], errors[1], n_epochs, best == 0 ? "flat" : "curved"));
  else
    start_with_defocus(deck.probe, errors, beams, best, n_epochs, log, parts.scan);
  return parts;
}

}  // namespace tessera::run

#include "make_solver.hpp"

#include <cmath>

#include "tessera/solvers/adam.hpp"
#include "tessera/solvers/descent.hpp"
#include "tessera/solvers/pie.hpp"

namespace tessera::app {
namespace {

solvers::StepSchedule step_schedule(const deck::Solver& deck) {
  return {.n_epochs = deck.epochs,
          .full_step_epochs = static_cast<int>(std::lround(deck.full_step_fraction * deck.epochs)),
          .final_step = deck.final_step};
}

solvers::PieOptions pie_options(const deck::Solver& deck) {
  return {.object_step = deck.object_step,
          .probe_step = deck.probe_step,
          .object_alpha = deck.object_alpha,
          .probe_alpha = deck.probe_alpha,
          .schedule = step_schedule(deck),
          .probe_start_epoch = deck.probe_start_epoch,
          .orthogonalise_every = deck.orthogonalise_every};
}

solvers::AdamOptions adam_options(const deck::Solver& deck) {
  return {.object_step = deck.object_step,
          .probe_step = deck.probe_step,
          .beta1 = deck.adam_beta1,
          .beta2 = deck.adam_beta2,
          .epsilon = deck.adam_epsilon,
          .schedule = step_schedule(deck),
          .probe_start_epoch = deck.probe_start_epoch,
          .orthogonalise_every = deck.orthogonalise_every};
}

solvers::DescentOptions descent_options(const deck::Solver& deck) {
  return {.preconditioner = {.object_step = deck.object_step,
                             .probe_step = deck.probe_step,
                             .object_alpha = deck.object_alpha,
                             .probe_alpha = deck.probe_alpha},
          .n_history = deck.method == "lbfgs" ? deck.lbfgs_history : 0,
          .probe_start_epoch = deck.probe_start_epoch,
          .orthogonalise_every = deck.orthogonalise_every};
}

}  // namespace

std::unique_ptr<solvers::Solver> make_solver(const deck::Solver& deck,
                                             const decomposition::Tile& tile,
                                             solvers::Unknowns& unknowns,
                                             physics::ForwardModel& model) {
  const Box& ghosted = tile.ghosted;
  const Box& owned = tile.owned;
  if (deck.method == "adam")
    return std::make_unique<solvers::Adam>(adam_options(deck), unknowns, model, ghosted, owned);
  if (deck.method == "ml" || deck.method == "lbfgs")
    return std::make_unique<solvers::Descent>(descent_options(deck), unknowns, model, ghosted,
                                              owned);
  return std::make_unique<solvers::Pie>(pie_options(deck), unknowns, model, ghosted, owned);
}

}  // namespace tessera::app

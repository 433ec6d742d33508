#include "make_solver.hpp"

#include <cmath>

#include "tessera/solvers/pie.hpp"

namespace tessera::app {
namespace {

solvers::StepSchedule step_schedule(const deck::Solver& deck) {
  return {.n_epochs = deck.epochs,
          .full_step_epochs = static_cast<int>(std::lround(deck.full_step_fraction * deck.epochs)),
          .final_step = deck.final_step};
}

}  // namespace

std::unique_ptr<solvers::Solver> make_solver(const deck::Solver& deck,
                                             const decomposition::Tile& tile,
                                             solvers::Unknowns& unknowns,
                                             physics::ForwardModel& model) {
  const solvers::PieOptions options{.object_step = deck.object_step,
                                    .probe_step = deck.probe_step,
                                    .object_alpha = deck.object_alpha,
                                    .probe_alpha = deck.probe_alpha,
                                    .schedule = step_schedule(deck),
                                    .probe_start_epoch = deck.probe_start_epoch,
                                    .orthogonalise_every = deck.orthogonalise_every};
  return std::make_unique<solvers::Pie>(options, unknowns, model, tile.ghosted, tile.owned);
}

}  // namespace tessera::app

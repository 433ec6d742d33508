#include "make_solver.hpp"

#include <cmath>

#include "tessera/run/memory.hpp"
#include "tessera/solvers/adam.hpp"
#include "tessera/solvers/descent.hpp"
#include "tessera/solvers/lsqml.hpp"
#include "tessera/solvers/pie.hpp"
#include "tessera/solvers/projection_solver.hpp"

namespace tessera::run {
namespace {

solvers::StepSchedule step_schedule(const deck::Solver& deck) {
  return {.n_epochs = deck.epochs,
          .full_step_epochs = static_cast<int>(std::lround(deck.full_step_fraction * deck.epochs)),
          .final_step = deck.final_step};
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

solvers::ProjectionOptions projection_options(const deck::Solver& deck) {
  return {.map = deck.method == "dm" ? solvers::ProjectionMap::difference_map
                                     : solvers::ProjectionMap::raar,
          .raar_beta = deck.raar_beta,
          .fourier_relaxation = deck.fourier_relaxation,
          .overlap_rounds = deck.overlap_rounds,
          .overlap_tolerance = deck.overlap_tolerance,
          .probe_start_epoch = deck.probe_start_epoch,
          .orthogonalise_after = deck.orthogonalise_every > 0 ? deck.epochs : 0};
}

solvers::EpochEndOptions epoch_end(const deck::Solver& deck) {
  return {.friction = uses_momentum(deck) ? deck.momentum : 0,
          .orthogonalise_every = deck.orthogonalise_every};
}

std::unique_ptr<solvers::Solver> make_pie(const deck::Solver& deck, const decomposition::Tile& tile,
                                          solvers::Unknowns& unknowns,
                                          physics::ForwardModel& model) {
  const solvers::PieOptions options{.object_step = deck.object_step,
                                    .probe_step = deck.probe_step,
                                    .object_alpha = deck.object_alpha,
                                    .probe_alpha = deck.probe_alpha,
                                    .schedule = step_schedule(deck),
                                    .probe_start_epoch = deck.probe_start_epoch,
                                    .epoch_end = epoch_end(deck)};
  return std::make_unique<solvers::Pie>(options, unknowns, model, tile.ghosted, tile.owned);
}

std::unique_ptr<solvers::Solver> make_lsqml(const deck::Solver& deck,
                                            const decomposition::Tile& tile,
                                            solvers::Unknowns& unknowns,
                                            physics::ForwardModel& model) {
  const solvers::LsqmlOptions options{.object_step = deck.object_step,
                                      .probe_step = deck.probe_step,
                                      .object_alpha = deck.object_alpha,
                                      .probe_alpha = deck.probe_alpha,
                                      .schedule = step_schedule(deck),
                                      .probe_start_epoch = deck.probe_start_epoch,
                                      .epoch_end = epoch_end(deck),
                                      .most_in_batch = most_in_batch(deck, tile.positions.size())};
  return std::make_unique<solvers::Lsqml>(options, unknowns, model, tile.ghosted, tile.owned);
}

}  // namespace

std::unique_ptr<solvers::Solver> make_solver(const deck::Solver& deck,
                                             const decomposition::Tile& tile,
                                             solvers::Unknowns& unknowns,
                                             physics::ForwardModel& model) {
  if (deck.method == "dm" || deck.method == "raar")
    return std::make_unique<solvers::ProjectionSolver>(projection_options(deck), unknowns, model,
                                                       tile.ghosted, tile.owned);
  if (deck.method == "ml" || deck.method == "lbfgs")
    return std::make_unique<solvers::Descent>(descent_options(deck), unknowns, model, tile.ghosted,
                                              tile.owned);
  if (deck.method == "adam")
    return std::make_unique<solvers::Adam>(adam_options(deck), unknowns, model, tile.ghosted,
                                           tile.owned);
  if (deck.method == "lsqml") return make_lsqml(deck, tile, unknowns, model);
  return make_pie(deck, tile, unknowns, model);
}

}  // namespace tessera::run

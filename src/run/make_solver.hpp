#pragma once
/// From solver.method to the method.

#include <memory>

#include "tessera/deck/deck.hpp"
#include "tessera/decomposition/tiles.hpp"
#include "tessera/solvers/solver.hpp"

namespace tessera::run {

std::unique_ptr<solvers::Solver> make_solver(const deck::Solver& deck,
                                             const decomposition::Tile& tile,
                                             solvers::Unknowns& unknowns,
                                             physics::ForwardModel& model);

}  // namespace tessera::run

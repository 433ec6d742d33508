#pragma once
/// From the deck to the parameters that the model starts from.

#include "deck/deck.hpp"
#include "physics/parameters.hpp"
#include "run/scan.hpp"
#include "solvers/refinement.hpp"

namespace tessera::run {

/// Of this rank's positions, where the scan puts them.
physics::Parameters start_parameters(const deck::Deck& deck, const Scan& scan);

/// Of every position, from epoch to epoch: a projection method.
bool keeps_waves(const deck::Solver& solver);

/// Of this rank's positions; no rows where they do not move.
solvers::MovingPositions moving_positions(const deck::Deck& deck, const Scan& scan);

}  // namespace tessera::run

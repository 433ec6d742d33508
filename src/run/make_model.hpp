#pragma once
/// From the deck to the model: what it is made of, and the parameters that it starts from.

#include "tessera/run/scan.hpp"
#include "tessera/deck/deck.hpp"
#include "tessera/physics/model_options.hpp"
#include "tessera/physics/parameters.hpp"
#include "tessera/solvers/refinement.hpp"

namespace tessera::run {

physics::Noise noise_from(const std::string& word);

/// With room for the widest of the deck's solvers.
physics::ModelOptions model_options(const deck::Deck& deck, const Scan& scan);

/// Of this rank's positions, where the scan puts them.
physics::Parameters start_parameters(const deck::Deck& deck, const Scan& scan);

/// Of this rank's positions; no rows where they do not move.
solvers::MovingPositions moving_positions(const deck::Deck& deck, const Scan& scan);

}  // namespace tessera::run

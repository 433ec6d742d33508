#pragma once
/// What a reconstruction starts from.

#include <vector>

#include "tessera/comm/communicator.hpp"

#include "deck/deck.hpp"
#include "run/history.hpp"
#include "run/scan.hpp"
#include "solvers/solver.hpp"

namespace tessera::run {

struct Start {
  solvers::Unknowns unknowns;         ///< ghosts hold their owners' values
  std::vector<EpochFigures> history;  ///< of the run that is resumed; else empty
};

/// Object and probe from the deck's [object] and [probe], or from the result that run.resume names.
/// Collective.
/// @throws AgreedError: missing file or dataset, a probe that is not of the patterns' size, other
/// object pixels, a history of more solvers than the deck has
Start make_start(const deck::Deck& deck, const Scan& scan, const comm::Communicator& comm);

}  // namespace tessera::run

#pragma once
/// Job scripts and cluster/supervise start the same command again and again: each start goes on
/// from what the one before has saved.

#include <string>

#include "tessera/base/log.hpp"
#include "tessera/comm/communicator.hpp"

#include "deck/deck.hpp"

namespace tessera::run {

struct GoingOn {
  std::string resume;    ///< the result to go on from; empty: there is none
  bool is_done = false;  ///< nothing is left to do
};

/// What lies at output.file or, if it has more epochs, at output.fallback, where that is a result
/// of the same deck: one that differs in how a run is computed, saved or ended alone, or in epochs.
/// Says what it found. Collective; the caller holds the output's lock.
/// @throws AgreedError: damaged, and there is no save before it
GoingOn find_going_on(const deck::Deck& deck, const comm::Communicator& comm, const Log& log);

}  // namespace tessera::run

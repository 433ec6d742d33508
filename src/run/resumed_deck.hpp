#pragma once
/// What a run that goes on keeps of the model that it goes on with.

#include "tessera/base/log.hpp"
#include "tessera/comm/communicator.hpp"

#include "deck/deck.hpp"

namespace tessera::run {

/// `deck`; if it resumes, with all in its model that the resumed run had fitted: positions, OPR,
/// intensities and background, which are not fitted further (Refine::no_epoch) unless it says so.
/// Collective.
/// @throws AgreedError: a solver of the deck does not go with it
deck::Deck resumed_deck(const deck::Deck& deck, const comm::Communicator& comm, const Log& log);

}  // namespace tessera::run

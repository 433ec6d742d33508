#pragma once
/// What a run that goes on keeps of the model that it goes on with.

#include <span>
#include <string>

#include "tessera/base/log.hpp"
#include "tessera/comm/communicator.hpp"

#include "deck/deck.hpp"

namespace tessera::run {

/// `path`, or, where that result is damaged, the save before it, with a warning. What is no result
/// is returned as it is, for others to name. Collective.
/// @throws AgreedError: damaged, and nothing before it
std::string sound_result(const std::string& path, const comm::Communicator& comm, const Log& log);

/// The text of the deck that the result at `path` holds. Not collective.
/// @throws InputError: no result, or one without a deck
std::string deck_text_of_result(const std::string& path);

/// The deck that the result at `path` holds, with overrides, as that of the run that goes on from
/// it and writes there, on as many ranks as there are now. Collective.
/// @param from `path` or the sound save before it
/// @throws AgreedError: no result or one without deck, bad overrides, nothing left to do
deck::Deck deck_to_resume(const std::string& path, const std::string& from,
                          std::span<const std::string> overrides, const comm::Communicator& comm);

/// Tiles that were given by rows and columns are those of the ranks that there were.
void fit_tiles(int n_ranks, deck::Deck& deck);

/// `deck`; if it resumes, with all in its model that the resumed run had fitted: positions, OPR,
/// intensities and background, which are not fitted further (Refine::no_epoch) unless it says so.
/// Collective.
/// @throws AgreedError: a solver of the deck does not go with it
deck::Deck resumed_deck(const deck::Deck& deck, const comm::Communicator& comm, const Log& log);

}  // namespace tessera::run

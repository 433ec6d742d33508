#pragma once
/// Which of several start probes comes to the lower error: that is known after a few epochs.

#include "run/run.hpp"

namespace tessera::run {

/// Where patterns and deck disagree on the defocus of the beam (Scan::defoci_m), the first epochs
/// are made with each, and the lowest error says with which it starts: a tenth of the deck's, five
/// at most; decks of less than 30 start with their own. Collective. @throws AgreedError
RunParts settle_defocus(const deck::Deck& deck, const comm::Communicator& comm, Scan scan,
                        const Log& log);

}  // namespace tessera::run

#pragma once
/// Which of several start probes comes to the lower error: that is known after a few epochs.

#include <vector>

#include "run/run.hpp"

namespace tessera::run {

/// Where the patterns leave open which of several beams a scan has (Scan::beams), a short run is
/// made with each, and the lowest error says with which it starts, or, in a far field whose deck
/// has no defocus, `lowest_m`. A trial has a tenth of the deck's epochs, five at most, and steps
/// that shrink to its end; decks of less than 30 start with the first. Collective. @throws
/// AgreedError
RunParts settle_beam(const deck::Deck& deck, const comm::Communicator& comm, Scan scan,
                     const Log& log);

/// Of errors after trials with 0, a and a / 2: where their parabola is lowest, which is nearer to
/// the right defocus than any of the three (docs/methods/start_values.md). The one of number `best`
/// if that is not between 0 and a.
double lowest_m(const std::vector<double>& errors, const std::vector<double>& defoci_m,
                std::size_t best);

}  // namespace tessera::run

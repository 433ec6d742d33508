#pragma once
/// From a deck to the scan's file.

#include "deck/deck.hpp"
#include "io/scan_reader.hpp"

namespace tessera::analysis {

/// What the deck says of the scan's file.
io::ScanSource scan_source(const deck::Deck& deck);

}  // namespace tessera::analysis

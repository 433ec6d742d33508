#pragma once
/// Where a scan's windows lie, and which of them are this rank's: what no pattern is read for.

#include "run/scan.hpp"

namespace tessera::run {

/// Grid and batch sizes. Collective.
Scan with_windows(const deck::Deck& deck, io::ScanInfo info, const comm::Communicator& comm);

/// Tiles, and what is this rank's. Collective.
void cut_tiles(const deck::Deck& deck, const comm::Communicator& comm, Scan& scan);

}  // namespace tessera::run

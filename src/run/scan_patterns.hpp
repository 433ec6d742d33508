#pragma once
/// The patterns of a scan, read and put where the memory plan wants them.

#include <span>

#include "run/scan.hpp"

namespace tessera::run {

/// Fills scan.on_device.patterns; what was found on the way is returned. Collective.
/// @param max_in_chunk positions of this rank
/// @throws AgreedError
io::PatternTotals read_patterns(const io::ScanSource& source, int max_in_chunk,
                                const comm::Communicator& comm, Scan& scan);

}  // namespace tessera::run

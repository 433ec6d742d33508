#pragma once
/// The patterns of a scan, read and put where the memory plan wants them.

#include <span>

#include "run/pattern_sample.hpp"
#include "run/scan.hpp"

namespace tessera::run {

/// Fills scan.on_device.patterns; what was found on the way is returned. Collective.
/// @param max_in_chunk positions of this rank
/// @param sample looks at the patterns as well; none: nullptr
/// @throws AgreedError
io::PatternTotals read_patterns(const io::ScanSource& source, int max_in_chunk,
                                const comm::Communicator& comm, PatternSample* sample, Scan& scan);

}  // namespace tessera::run

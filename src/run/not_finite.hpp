#pragma once
/// Where a reconstruction went wrong.

#include <string>

#include "tessera/run/scan.hpp"
#include "tessera/comm/communicator.hpp"
#include "tessera/solvers/solver.hpp"

namespace tessera::run {

/// The first value that is not finite, with a scan position that sees it: "the object at pixel
/// (y, x), under scan position n". Ranks in ascending order; the object before the probe. Waits for
/// the device. Collective.
std::string where_not_finite(const Scan& scan, const solvers::Unknowns& unknowns,
                             const comm::Communicator& comm);

}  // namespace tessera::run

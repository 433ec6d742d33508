#pragma once
/// Where a reconstruction went wrong.

#include <string>

#include "tessera/comm/communicator.hpp"

#include "run/scan.hpp"
#include "solvers/fields.hpp"

namespace tessera::run {

/// The first value of `fields` that is not finite, with a scan position that sees it: "the object
/// at pixel (y, x), under scan position n", "the intensity of scan position n"; empty: all are.
/// Ranks in ascending order. Waits for the device. Collective.
std::string where_not_finite(const Scan& scan, const solvers::Fields& fields,
                             const comm::Communicator& comm);

/// The keys of `solver` that keep a value in bounds, as the subject of a sentence.
std::string remedy_for(const deck::Solver& solver);

}  // namespace tessera::run

#pragma once
/// `tessera simulate`: a scan whose truth is known.

#include "tessera/base/log.hpp"
#include "tessera/comm/communicator.hpp"

#include "deck/deck.hpp"

namespace tessera::simulation {

/// Simulate the scan that [simulation], [probe] and [experiment] describe and write it to
/// `data.file`, in the format that `reconstruct` reads, with the true object, probe modes and
/// window corners below `truth/`. Written for itself, on the host in double precision, and not with
/// the solvers' kernels: it is what they are tested against. Collective; the file is bit for bit
/// the same on any number of ranks, and no rank holds the object.
/// @throws AgreedError naming the key that does not fit; the output folder missing or not writable
void simulate(const deck::Deck& deck, const comm::Communicator& comm, const Log& log);

}  // namespace tessera::simulation

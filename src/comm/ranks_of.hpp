#pragma once
/// Parts of a communicator, whose ranks keep their order.

#include "tessera/comm/communicator.hpp"

namespace tessera::comm {

/// The ranks of `comm` that give the same `colour` (>= 0). Collective over `comm`.
Communicator ranks_of_colour(const Communicator& comm, int colour);

/// Those that share this host's memory. Collective over `comm`.
Communicator ranks_of_host(const Communicator& comm);

}  // namespace tessera::comm

#pragma once
/// Parts of a communicator.

#include "tessera/comm/communicator.hpp"

namespace tessera::comm {

/// The ranks of `comm` that give the same `colour` (>= 0), in its order. Collective over `comm`.
Communicator ranks_of_colour(const Communicator& comm, int colour);

}  // namespace tessera::comm

#pragma once
/// What messages and sums between ranks take.

#include "tessera/comm/communicator.hpp"

#include "cost/machine.hpp"

namespace tessera::scaling {

/// By the transport that a run would take. All ranks send to their neighbour in a ring at once;
/// the least of some rounds, of the slowest rank. Collective.
cost::Link measure_link(const comm::Communicator& comm);

}  // namespace tessera::scaling

#pragma once
/// Reals from rank to rank by MPI, checked.

#include <cstdint>

#include "tessera/comm/communicator.hpp"
#include "tessera/device/device.hpp"

namespace tessera::halo {

/// @throws SystemError, also for more numbers than MPI can count
MPI_Request start_send(const comm::Communicator& comm, const Real* values, std::int64_t n, int peer,
                       int tag);
MPI_Request start_receive(const comm::Communicator& comm, Real* values, std::int64_t n, int peer,
                          int tag);

}  // namespace tessera::halo

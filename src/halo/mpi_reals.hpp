#pragma once
/// Reals from rank to rank by MPI, checked.

#include <cstdint>
#include <vector>

#include "tessera/halo/transport.hpp"

namespace tessera::halo {

/// @throws SystemError, also for more numbers than MPI can count
MPI_Request start_send(const comm::Communicator& comm, const Real* values, std::int64_t n, int peer,
                       int tag);
MPI_Request start_receive(const comm::Communicator& comm, Real* values, std::int64_t n, int peer,
                          int tag);

/// `requests` = all receives and sends of `messages`, started.
void start_exchange(const comm::Communicator& comm, const std::vector<Message>& messages, int tag,
                    std::vector<MPI_Request>& requests);
/// Messages above MPI's eager limit move only inside of its calls. Does not wait.
void test_all(std::vector<MPI_Request>& requests);
void wait_for_all(std::vector<MPI_Request>& requests);

}  // namespace tessera::halo

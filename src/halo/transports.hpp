#pragma once
/// The transports of this build, by name.

#include <memory>
#include <string>

#include "tessera/halo/transport.hpp"

namespace tessera::halo {

/// Whether the transport called `name` can be used by the ranks of `comm`: empty, or why not and
/// what to do, the same on all ranks. Collective.
std::string why_not(std::string_view name, const comm::Communicator& comm);

/// One that can be used. Collective.
/// @throws SystemError if it cannot be started all the same
std::unique_ptr<Transport> start_transport(std::string_view name, const comm::Communicator& comm,
                                           double timeout_s);

// One form of these is linked: transport_nccl.cpp or transport_nccl_none.cpp.
bool build_has_nccl();
std::string why_not_nccl(const comm::Communicator& comm);
std::unique_ptr<Transport> start_nccl(const comm::Communicator& comm, double timeout_s);

std::string why_not_gpu_mpi(const comm::Communicator& comm);
std::unique_ptr<Transport> start_gpu_mpi(const comm::Communicator& comm, double timeout_s);

}  // namespace tessera::halo

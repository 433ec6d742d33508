#pragma once
/// The transports of settings/transports.hpp: how each is started, and where.

#include <memory>
#include <string>

#include "tessera/halo/transport.hpp"

#include "settings/transports.hpp"

namespace tessera::halo {

/// What the file of a transport says of it.
struct TransportKind {
  std::string_view name;
  bool is_built;
  /// Whether the ranks of a communicator can use it: empty, or why not and what to do, the same on
  /// all ranks. Collective.
  std::string (*why_not)(const comm::Communicator& comm);
  /// One that can be used; null where it is not built. Collective.
  /// @throws SystemError if it cannot be started all the same
  std::unique_ptr<Transport> (*start)(const comm::Communicator& comm, double timeout_s);
  /// Where it can be used none is faster, and to start the others only takes time.
  bool is_never_beaten = false;
};

/// Each file of a transport has its own.
template <class Named>
TransportKind transport_kind();
template <>
TransportKind transport_kind<settings::Nccl>();  // gpu_mpi leaves sums to it

/// Two ranks that use the same GPU: empty, or a clause that names them. Collective.
std::string ranks_on_one_gpu(const comm::Communicator& comm);

/// @throws AgreedError (exit code 2) where there is none of this name
TransportKind kind_named(std::string_view name);

}  // namespace tessera::halo

#pragma once
/// Every transport that a test program can run. On a host build the ones for GPUs work too, on host
/// memory: their order of calls and their bookkeeping are then tested, their overlap is not.

#include <memory>
#include <string>
#include <vector>

#include "tessera/halo/transport.hpp"

#include "support/world.hpp"
#include "transport_gpu_mpi.hpp"
#include "transport_staged_mpi.hpp"
#include "transports.hpp"

namespace tessera::testing {

inline std::vector<std::string> tested_transports() {
  if (device::device_is_host) return {"host_mpi", "staged_mpi", "gpu_mpi"};
  return halo::transport_names();
}

/// Empty, or why the ranks of this test cannot use it. Collective.
inline std::string why_not_tested(const std::string& name) {
  return device::device_is_host ? std::string() : halo::kind_named(name).why_not(world());
}

inline std::unique_ptr<halo::Transport> tested_transport(const std::string& name) {
  if (!device::device_is_host || name == "host_mpi") return halo::make_transport(name, world());
  auto staged = std::make_unique<halo::StagedMpiTransport>(world());
  if (name == "staged_mpi") return staged;
  return std::make_unique<halo::GpuMpiTransport>(world(), std::move(staged));
}

/// The values of a device view, and back.
template <class View>
typename View::HostMirror on_host(const View& view) {
  const auto host = Kokkos::create_mirror(view);
  Kokkos::deep_copy(host, view);
  return host;
}

}  // namespace tessera::testing

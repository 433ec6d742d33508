#include "tessera/base/error.hpp"

#include "transports.hpp"

namespace tessera::halo {
namespace {

std::string why_not_gpu_p2p(const comm::Communicator&) {
  return "this build computes on the host";
}

std::unique_ptr<Transport> start_gpu_p2p(const comm::Communicator& comm, double) {
  throw AgreedError(ExitCode::bad_input, why_not_gpu_p2p(comm));
}

}  // namespace

template <>
TransportKind transport_kind<settings::GpuP2p>() {
  return {settings::GpuP2p::name, false, why_not_gpu_p2p, start_gpu_p2p};
}

}  // namespace tessera::halo

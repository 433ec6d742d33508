#include "transports.hpp"

namespace tessera::halo {
namespace {

std::string why_not_gpu_p2p(const comm::Communicator&) {
  return "this build computes on the host";
}

}  // namespace

template <>
TransportKind transport_kind<settings::GpuP2p>() {
  return {settings::GpuP2p::name, false, why_not_gpu_p2p, nullptr};
}

}  // namespace tessera::halo

#include "transports.hpp"

namespace tessera::halo {
namespace {

std::string why_not_nccl(const comm::Communicator&) {
  return "this build has no NCCL (CMake finds nccl.h and libnccl with NCCL_ROOT, when "
         "TESSERA_CUDA is on)";
}

}  // namespace

template <>
TransportKind transport_kind<settings::Nccl>() {
  return {settings::Nccl::name, false, why_not_nccl, nullptr};
}

}  // namespace tessera::halo

#include "tessera/base/error.hpp"

#include "transports.hpp"

namespace tessera::halo {

bool build_has_nccl() {
  return false;
}

std::string why_not_nccl(const comm::Communicator&) {
  return "this build has no NCCL (CMake finds nccl.h and libnccl with NCCL_ROOT, when "
         "TESSERA_CUDA is on)";
}

std::unique_ptr<Transport> start_nccl(const comm::Communicator& comm, double) {
  throw AgreedError(ExitCode::bad_input, why_not_nccl(comm));
}

}  // namespace tessera::halo

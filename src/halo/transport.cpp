#include "tessera/halo/transport.hpp"

#include <algorithm>
#include <array>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "transport_host_mpi.hpp"
#include "transport_staged_mpi.hpp"
#include "transports.hpp"

namespace tessera::halo {

std::vector<std::string> transport_names() {
  std::vector<std::string> names{"host_mpi"};
  if (!device::device_is_host) names.emplace_back("gpu_mpi");
  if (build_has_nccl()) names.emplace_back("nccl");
  return names;
}

std::string why_not(std::string_view name, const comm::Communicator& comm) {
  if (name == "host_mpi") return {};
  if (name == "nccl") return why_not_nccl(comm);
  if (name != "gpu_mpi") return text("there is no transport of this name");
  if (device::device_is_host) return "this build computes on the host, which needs host_mpi only";
  return why_not_gpu_mpi(comm);
}

std::unique_ptr<Transport> start_transport(std::string_view name, const comm::Communicator& comm,
                                           double timeout_s) {
  if (name == "nccl") return start_nccl(comm, timeout_s);
  if (name == "gpu_mpi") return start_gpu_mpi(comm, timeout_s);
  if (device::device_is_host) return std::make_unique<HostMpiTransport>(comm);
  return std::make_unique<StagedMpiTransport>(comm);
}

std::unique_ptr<Transport> make_transport(std::string_view name, const comm::Communicator& comm,
                                          double timeout_s) {
  constexpr std::array<std::string_view, 3> fastest_first{"nccl", "gpu_mpi", "host_mpi"};
  if (name == "auto")
    name = *std::find_if(fastest_first.begin(), fastest_first.end(), [&](std::string_view known) {
      return comm.size() == 1 ? known == "host_mpi" : why_not(known, comm).empty();
    });
  const std::string reason = why_not(name, comm);
  if (!reason.empty())
    throw AgreedError(
        ExitCode::bad_input,
        text("decomposition.transport = \"", name, "\" cannot be used: ", reason,
             ". This build has ", joined(transport_names()), "; \"auto\" takes what works"));
  return start_transport(name, comm, timeout_s);
}

}  // namespace tessera::halo

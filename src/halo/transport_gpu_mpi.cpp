#include "transport_gpu_mpi.hpp"

#include <cstdlib>
#include <string>

#include "tessera/base/text.hpp"

#include "mpi_reals.hpp"
#include "transport_staged_mpi.hpp"
#include "transports.hpp"

namespace tessera::halo {

void GpuMpiTransport::begin(const device::Device& exec, const std::vector<Message>& messages,
                            int tag) {
  ready_.record(exec);
  messages_ = &messages;
  tag_ = tag;
}

/// Everything starts here, when exec is known to have written what is sent and read what came
/// before: waiting in `begin` would keep the host from launching the work that hides the exchange.
void GpuMpiTransport::finish(const device::Device&) {
  ready_.wait();
  start_exchange(comm_, *messages_, tag_, requests_);
  wait_for_all(requests_);
}

namespace {

std::string why_not_gpu_mpi(const comm::Communicator& comm) {
  if (device::device_is_host) return "this build computes on the host, which needs host_mpi only";
  const char* wanted = std::getenv("TESSERA_GPU_MPI");
  const bool insists = wanted && std::string_view(wanted) == "1";
  if (!comm.any(!insists && !mpi_reads_device_memory())) return {};
  return text("the MPI library (", comm::library_version(),
              ") does not say that it reads GPU memory; run with one built for CUDA (Open MPI: "
              "--with-cuda), or set TESSERA_GPU_MPI=1 on all ranks if you know that it does (one "
              "that does not "
              "ends in a segmentation fault)");
}

std::unique_ptr<Transport> start_gpu_mpi(const comm::Communicator& comm, double timeout_s) {
  const TransportKind nccl = transport_kind<settings::Nccl>();
  std::unique_ptr<Transport> collectives;
  if (nccl.why_not(comm).empty())
    collectives = nccl.start(comm, timeout_s);
  else
    collectives = std::make_unique<StagedMpiTransport>(comm);
  return std::make_unique<GpuMpiTransport>(comm, std::move(collectives));
}

}  // namespace

template <>
TransportKind transport_kind<settings::GpuMpi>() {
  return {settings::GpuMpi::name, !device::device_is_host, why_not_gpu_mpi, start_gpu_mpi};
}

}  // namespace tessera::halo

#pragma once
/// Plain MPI on host memory: "host_mpi" of a build whose device is the host.

#include <vector>

#include "tessera/halo/transport.hpp"

namespace tessera::halo {

class HostMpiTransport final : public Transport {
 public:
  explicit HostMpiTransport(const comm::Communicator& comm) : comm_(comm) {}
  std::string_view name() const override { return "host_mpi"; }
  void begin(const device::Device& exec, const std::vector<Message>& messages, int tag) override;
  void finish(const device::Device& exec) override;
  void all_reduce(const device::Device& exec, const device::DeviceView<Real*>& values) override;
  void all_reduce_doubles(const device::Device& exec,
                          const device::DeviceView<double*>& values) override;
  void broadcast(const device::Device& exec, const device::DeviceView<Real*>& values) override;

 private:
  const comm::Communicator& comm_;
  std::vector<MPI_Request> requests_;
};

}  // namespace tessera::halo

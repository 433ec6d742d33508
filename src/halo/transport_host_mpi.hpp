#pragma once
/// Plain MPI on host memory: "host_mpi" of a build whose device is the host.

#include <vector>

#include "tessera/halo/transport.hpp"

namespace tessera::halo {

class HostMpiTransport : public Transport {
 public:
  explicit HostMpiTransport(const comm::Communicator& comm) : comm_(comm) {}
  std::string_view name() const override { return "host_mpi"; }
  void reserve(const std::vector<Message>& largest) override {
    requests_.reserve(2 * largest.size());
  }
  void begin(const device::Device& exec, const std::vector<Message>& messages, int tag) override;
  void progress() override;
  void finish(const device::Device& exec) override;
  void all_reduce(const device::Device& exec, const device::DeviceView<Real*>& values) override;
  void all_reduce_doubles(const device::Device& exec,
                          const device::DeviceView<double*>& values) override;
  void broadcast(const device::Device& exec, const device::DeviceView<Real*>& values) override;

 protected:
  const comm::Communicator& comm_;

 private:
  template <class Value, class Work>
  void on_host(const device::Device& exec, const device::DeviceView<Value*>& values,
               const Work& work);
  /// Where MPI finds `values`, as exec's earlier work left them, and back from there.
  virtual void* to_host(const device::Device& exec, void* values, std::size_t n_bytes);
  virtual void to_device(const device::Device&, void* /*values*/, std::size_t /*n_bytes*/) {}

  std::vector<MPI_Request> requests_;
};

}  // namespace tessera::halo

#pragma once
/// MPI on device memory, point to point. Its sums come from NCCL or go through the host: MPI's own
/// on device memory are slow at best (docs/decisions/0009).

#include <memory>
#include <vector>

#include "tessera/device/stream.hpp"
#include "tessera/halo/transport.hpp"

namespace tessera::halo {

class GpuMpiTransport final : public Transport {
 public:
  /// @param collectives does what is no exchange
  GpuMpiTransport(const comm::Communicator& comm, std::unique_ptr<Transport> collectives)
      : comm_(comm), collectives_(std::move(collectives)) {}
  std::string_view name() const override { return "gpu_mpi"; }
  void reserve(const std::vector<Message>& largest) override {
    requests_.reserve(2 * largest.size());
  }
  void begin(const device::Device& exec, const std::vector<Message>& messages, int tag) override;
  void finish(const device::Device& exec) override;
  void all_reduce(const device::Device& exec, const device::DeviceView<Real*>& values) override {
    collectives_->all_reduce(exec, values);
  }
  void all_reduce_doubles(const device::Device& exec,
                          const device::DeviceView<double*>& values) override {
    collectives_->all_reduce_doubles(exec, values);
  }
  void broadcast(const device::Device& exec, const device::DeviceView<Real*>& values) override {
    collectives_->broadcast(exec, values);
  }
  void watch(const device::Device& exec) override { collectives_->watch(exec); }
  void wait(const device::Device& exec) override { collectives_->wait(exec); }

 private:
  const comm::Communicator& comm_;
  std::unique_ptr<Transport> collectives_;
  device::Event ready_;
  const std::vector<Message>* messages_ = nullptr;
  int tag_ = 0;
  std::vector<MPI_Request> requests_;
};

/// What the MPI library says of itself; false if it says nothing.
bool mpi_reads_device_memory();

}  // namespace tessera::halo

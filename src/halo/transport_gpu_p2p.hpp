#pragma once
/// GPUs of one host that write into each other's memory, by kernels in the run's own stream.

#include "tessera/halo/transport.hpp"

#include "peer_memory.hpp"
#include "progress_marks.hpp"

namespace tessera::halo {

/// Messages travel in `finish`, both ways in one kernel.
class GpuP2pTransport final : public Transport {
 public:
  /// Collective. @throws AgreedError
  GpuP2pTransport(const comm::Communicator& comm, double timeout_s);
  /// Collective, unless an exception is on its way.
  ~GpuP2pTransport() override;
  GpuP2pTransport(const GpuP2pTransport&) = delete;
  GpuP2pTransport& operator=(const GpuP2pTransport&) = delete;

  std::string_view name() const override { return "gpu_p2p"; }
  void begin(const device::Device& exec, const std::vector<Message>& messages, int tag) override;
  bool needs_buffers() const override { return false; }
  void begin_in_place(const TileFields& fields, std::span<const PixelMessage> messages,
                      Arrival arrival) override;
  void finish(const device::Device& exec) override;
  bool reduce_along(const device::DeviceView<Real*>& values) override;
  bool recordable() const override { return true; }
  bool sums_beside() const override { return true; }
  void all_reduce(const device::Device& exec, const device::DeviceView<Real*>& values) override;
  void all_reduce_doubles(const device::Device& exec,
                          const device::DeviceView<double*>& values) override;
  void broadcast(const device::Device& exec, const device::DeviceView<Real*>& values) override;
  void watch(const device::Device& exec) override;
  void wait(const device::Device& exec) override;

 private:
  const comm::Communicator& comm_;
  double timeout_s_;
  std::unique_ptr<PeerMemory> memory_;
  ProgressMarks marks_;
  PeerFields<Real> fields_{};                ///< under way
  std::vector<PeerMessage<Real>> messages_;  ///< of these, or of buffers
  device::DeviceView<Real*> summed_;         ///< along with them
};

}  // namespace tessera::halo

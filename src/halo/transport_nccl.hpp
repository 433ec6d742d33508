#pragma once
/// NCCL on a stream of its own, ordered with the run's by events: the host never waits.

#include "tessera/device/stream.hpp"
#include "tessera/halo/transport.hpp"

#include "nccl.hpp"
#include "progress_marks.hpp"

namespace tessera::halo {

class NcclTransport final : public Transport {
 public:
  /// Collective. @throws SystemError
  NcclTransport(const comm::Communicator& comm, double timeout_s);
  std::string_view name() const override { return "nccl"; }
  void begin(const device::Device& exec, const std::vector<Message>& messages, int tag) override;
  void finish(const device::Device& exec) override;
  bool recordable() const override { return true; }
  void all_reduce(const device::Device& exec, const device::DeviceView<Real*>& values) override;
  void all_reduce_doubles(const device::Device& exec,
                          const device::DeviceView<double*>& values) override;
  void broadcast(const device::Device& exec, const device::DeviceView<Real*>& values) override;
  void watch(const device::Device& exec) override;
  void wait(const device::Device& exec) override;

 private:
  void follow(const device::Device& exec);
  void lead(const device::Device& exec);

  int n_ranks_;
  device::Stream stream_{device::Stream::Priority::high};
  device::Event ready_;
  device::Event arrived_;
  Nccl nccl_;
  ProgressMarks marks_;
};

}  // namespace tessera::halo

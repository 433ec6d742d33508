#pragma once
/// Plain MPI through pinned host memory: "host_mpi" of a build whose device is a GPU. Messages go
/// in pieces, so that copies and MPI overlap.

#include <vector>

#include "tessera/device/stream.hpp"

#include "transport_host_mpi.hpp"

namespace tessera::halo {

class StagedMpiTransport final : public HostMpiTransport {
 public:
  explicit StagedMpiTransport(const comm::Communicator& comm) : HostMpiTransport(comm) {}
  void reserve(const std::vector<Message>& largest) override { lay_out(largest); }
  void begin(const device::Device& exec, const std::vector<Message>& messages, int tag) override;
  void finish(const device::Device& exec) override;

 private:
  /// Part of a message: where it lies on the device and in pinned memory.
  struct Piece {
    int peer = 0;
    Real* on_device = nullptr;
    Real* pinned = nullptr;
    std::int64_t n = 0;
    std::size_t n_bytes() const { return static_cast<std::size_t>(n) * sizeof(Real); }
  };
  void lay_out(const std::vector<Message>& messages);
  int try_send(int next);
  bool try_receive();
  void* to_host(const device::Device& exec, void* values, std::size_t n_bytes) override;
  void to_device(const device::Device& exec, void* values, std::size_t n_bytes) override;

  int tag_ = 0;
  // Two queues, because the two directions of the link do not disturb each other.
  device::Stream outward_{device::Stream::Priority::high};
  device::Stream inward_{device::Stream::Priority::high};
  device::Event ready_;    ///< exec has written what is sent and read what came before
  device::Event arrived_;  ///< the last copy to the device
  device::PinnedBuffer pinned_;
  device::PinnedBuffer collective_;
  std::vector<Piece> outgoing_;
  std::vector<Piece> incoming_;
  std::vector<device::Event> on_host_;  ///< of each outgoing piece
  std::vector<MPI_Request> sends_;
  std::vector<MPI_Request> receives_;
};

}  // namespace tessera::halo

#pragma once
/// NCCL behind raw pointers, byte counts and streams (cudaStream_t as void*).

#include <array>
#include <cstddef>
#include <string>

struct ncclComm;

namespace tessera::halo {

/// One communicator that never blocks without a deadline. Every rank makes the same calls in the
/// same order; all but `check` only put work into the stream. Every call throws SystemError when
/// NCCL or a peer has failed or does not answer in time, and has then ended the communicator.
class Nccl {
 public:
  using Id = std::array<char, 128>;
  /// On one rank, which gives it to the others.
  static Id make_id();

  /// One rank per GPU; uses the calling thread's current one. Collective.
  Nccl(const Id& id, int rank, int n_ranks, double timeout_s);
  /// Collective, unless an exception is on its way.
  ~Nccl();
  Nccl(const Nccl&) = delete;
  Nccl& operator=(const Nccl&) = delete;

  /// Sends and receives of a group move together.
  void begin_group();
  void end_group();
  void send(const void* values, std::size_t n_bytes, int peer, void* stream);
  void receive(void* values, std::size_t n_bytes, int peer, void* stream);
  /// In place.
  void sum(float* values, std::size_t n, void* stream);
  void sum(double* values, std::size_t n, void* stream);
  /// From rank 0.
  void broadcast(void* values, std::size_t n_bytes, void* stream);
  /// Has anything failed since?
  void check();
  /// End the communicator, which frees kernels that wait for a peer.
  /// @throws SystemError always
  [[noreturn]] void fail(const std::string& why);

  double timeout_s() const { return timeout_s_; }

 private:
  void settle(int result, const char* call);
  void queued(int result, const char* call);

  ncclComm* comm_ = nullptr;
  double timeout_s_;
};

}  // namespace tessera::halo

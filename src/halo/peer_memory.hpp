#pragma once
/// GPUs of one host that write into each other's memory, behind raw pointers and streams
/// (cudaStream_t as void*). Nothing here waits on the host.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::halo {

/// What goes to and comes from one peer: device memory, 16-byte aligned, in whole floats.
struct PeerMessage {
  int peer;
  const void* send;
  std::int64_t n_send_bytes;
  void* receive;
  std::int64_t n_receive_bytes;
};

/// What this rank lets the others write to, and what they let it write to. All ranks make the same
/// calls in the same order. Every call throws SystemError where CUDA does.
class PeerMemory {
 public:
  static constexpr int max_ranks = 16;
  /// Opens a rank's memory in another process.
  using Handle = std::array<char, 64>;

  /// On the current GPU.
  PeerMemory(int rank, int n_ranks);
  /// The others write no more, or the process ends.
  ~PeerMemory();
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;

  Handle handle() const;
  /// @param of_rank everybody's
  void open(const std::vector<Handle>& of_rank);
  /// Write no more to the others.
  void close();

  /// One kernel: at most a message for each of the others, which has its counterpart there, and in
  /// place the sum of `values` over all ranks, the same bits on every one. Either may be empty.
  void exchange_and_sum(const std::vector<PeerMessage>& messages, float* values, std::size_t n,
                        void* stream);
  void exchange_and_sum(const std::vector<PeerMessage>& messages, double* values, std::size_t n,
                        void* stream);
  /// From rank 0.
  void broadcast(float* values, std::size_t n, void* stream);
  void broadcast(double* values, std::size_t n, void* stream);
  /// Kernels that wait for others end, also later ones; what they leave is worth nothing.
  void give_up();

 private:
  template <class T, bool adds>
  void travel(const std::vector<PeerMessage>& messages, T* values, std::size_t n,
              void* stream) const;

  int rank_;
  int n_ranks_;
  std::array<std::byte*, max_ranks> memory_{};  ///< of every rank, as this one sees it
  unsigned* counts_ = nullptr;
  int* gives_up_ = nullptr;  ///< on the host, where kernels look
};

}  // namespace tessera::halo

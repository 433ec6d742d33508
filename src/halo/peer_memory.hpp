#pragma once
/// GPUs of one host that write into each other's memory, behind raw pointers and streams
/// (cudaStream_t as void*). Nothing here waits on the host.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tessera/decomposition/batch_halo.hpp"

namespace tessera::halo {

/// What goes to a peer, or comes from it: `n` numbers of a buffer, or `n` pixels of the fields,
/// those of so many pieces from `pieces` on.
template <class T>
struct PeerNumbers {
  T* buffer;
  const decomposition::Piece* pieces;
  int n_pieces;
  std::int64_t n;
};
template <class T>
struct PeerMessage {
  int peer;
  PeerNumbers<T> send;
  PeerNumbers<T> receive;
};

/// Whose pixels the messages of an exchange are: (n_planes, H, W) values of `n_components` numbers
/// each, device memory.
template <class T>
struct PeerFields {
  struct Field {
    T* data;
    int n_planes;
    int n_components;
  };
  static constexpr int max = 8;
  Field fields[max];
  int n;        ///< 0: messages are of buffers
  Shape2 tile;  ///< (H, W)
  bool adds;    ///< what arrives, message after message; or it replaces what is there
};

/// What this rank lets the others write to, and what they let it write to. All ranks make the same
/// calls in the same order. Every call throws SystemError where CUDA does.
class PeerMemory {
 public:
  static constexpr int max_ranks = 16;
  /// Opens a rank's memory in another process.
  using Handle = std::array<char, 64>;

  /// Of a kernel, for each rank: those of two kernels of these that wait for others, one with
  /// messages and one that sums, fit on the current GPU at a time.
  static int n_blocks_that_fit(int n_ranks);

  /// On the current GPU.
  /// @param n_blocks for each rank, the same on all
  PeerMemory(int rank, int n_ranks, int n_blocks);
  /// The others write no more, or the process ends.
  ~PeerMemory();
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;

  Handle handle() const;
  /// @param of_rank everybody's
  void open(const std::vector<Handle>& of_rank);
  /// Write no more to the others.
  void close();

  /// One kernel: at most a message for each of the others, in the order of their ranks, which has
  /// its counterpart there, and in place the sum of `values` over all ranks, the same bits on every
  /// one. Either may be empty.
  void exchange_and_sum(const PeerFields<float>& fields,
                        const std::vector<PeerMessage<float>>& messages, float* values,
                        std::size_t n, void* stream);
  void exchange_and_sum(const PeerFields<double>& fields,
                        const std::vector<PeerMessage<double>>& messages, double* values,
                        std::size_t n, void* stream);
  /// From rank 0.
  void broadcast(float* values, std::size_t n, void* stream);
  void broadcast(double* values, std::size_t n, void* stream);
  /// Kernels that wait for others end, also later ones; what they leave is worth nothing.
  void give_up();

 private:
  template <class T, bool adds>
  void travel(const PeerFields<T>& fields, const std::vector<PeerMessage<T>>& messages, T* values,
              std::size_t n, void* stream) const;

  int rank_;
  int n_ranks_;
  int n_blocks_;
  std::array<std::byte*, max_ranks> memory_{};  ///< of every rank, as this one sees it
  unsigned* counts_ = nullptr;
  int* gives_up_ = nullptr;  ///< on the host, where kernels look
};

}  // namespace tessera::halo

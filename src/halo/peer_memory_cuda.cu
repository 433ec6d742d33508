#include <algorithm>

#include <cuda_runtime.h>

#include "device/check_cuda.hpp"
#include "peer_memory.hpp"

namespace tessera::halo {
namespace {

using device::check_cuda;
using Count = unsigned;  ///< of what a block has done; it may wrap

constexpr int threads = 512;
constexpr int max_ranks = PeerMemory::max_ranks;
constexpr std::int64_t box_bytes = 64 << 10;

/// Where things lie in the memory of each rank. A block has boxes of its own at every other rank,
/// two for messages and two for sums: it writes one while the other is read.
struct Layout {
  int n_ranks;
  int n_blocks;

  static Layout of(int n_ranks) { return {n_ranks, std::clamp(128 / n_ranks, 8, 32)}; }
  __host__ __device__ std::int64_t flags() const { return std::int64_t{n_ranks} * n_blocks; }
  /// Flag `kind` that rank `writer` raises: boxes that it has filled, has emptied, has shared.
  __device__ Count* flag(std::byte* memory, int kind, int writer, int block) const {
    return reinterpret_cast<Count*>(memory) + kind * flags() + writer * n_blocks + block;
  }
  __host__ __device__ std::int64_t boxes_begin() const {
    return (3 * flags() * static_cast<std::int64_t>(sizeof(Count)) + 255) / 256 * 256;
  }
  /// @param kind 0: messages; 1: sums
  __device__ std::byte* box(std::byte* memory, int kind, int writer, int block,
                            Count number) const {
    const std::int64_t at = ((kind * n_ranks + writer) * n_blocks + block) * 2 + number % 2;
    return memory + boxes_begin() + at * box_bytes;
  }
  std::int64_t bytes() const { return boxes_begin() + 4 * flags() * box_bytes; }
};

enum Flag { filled, emptied, shared };

struct Peers {
  Layout layout;
  int rank;
  std::byte* memory[max_ranks];
  Count* counts;  ///< own: boxes filled, boxes read, by peer and block; sums, by block
  const volatile int* gives_up;
};

__device__ __forceinline__ void raise(Count* flag, Count value) {
  __threadfence_system();
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(flag)),
               "r"(value)
               : "memory");
}

/// Until the flag has come to `least`.
__device__ __forceinline__ void wait_for(const Count* flag, Count least,
                                         const volatile int* gives_up) {
  for (int i = 1;; ++i) {
    Count value;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];"
                 : "=r"(value)
                 : "l"(__cvta_generic_to_global(flag))
                 : "memory");
    if (static_cast<int>(value - least) >= 0 || (i % 1024 == 0 && *gives_up)) return;
  }
}

/// By all threads of a block. What others wrote lies in the second-level cache.
__device__ void copy_together(std::byte* __restrict__ to, const std::byte* __restrict__ from,
                              std::int64_t n_bytes) {
  const auto n_wide = static_cast<int>(n_bytes / sizeof(uint4));
#pragma unroll 4
  for (int i = static_cast<int>(threadIdx.x); i < n_wide; i += threads)
    reinterpret_cast<uint4*>(to)[i] = __ldcg(reinterpret_cast<const uint4*>(from) + i);
  const std::int64_t rest = n_wide * static_cast<std::int64_t>(sizeof(uint4)) +
                            static_cast<std::int64_t>(threadIdx.x * sizeof(unsigned));
  if (rest < n_bytes)
    *reinterpret_cast<unsigned*>(to + rest) =
        __ldcg(reinterpret_cast<const unsigned*>(from + rest));
}

/// What a block takes of so many bytes: the same on both sides.
struct Part {
  std::int64_t begin;
  std::int64_t end;
  __device__ Part(std::int64_t n_bytes, int block, int n_blocks) {
    constexpr std::int64_t unit = sizeof(uint4);
    const std::int64_t share = ((n_bytes + n_blocks - 1) / n_blocks + unit - 1) / unit * unit;
    begin = min(block * share, n_bytes);
    end = min(begin + share, n_bytes);
  }
  __device__ int n_boxes() const {
    return static_cast<int>((end - begin + box_bytes - 1) / box_bytes);
  }
};

struct Messages {
  PeerMessage of[max_ranks - 1];
};

__device__ void exchange(const Peers& peers, const PeerMessage& message, int block) {
  const Layout& layout = peers.layout;
  const Part sent(message.n_send_bytes, block, layout.n_blocks);
  const Part received(message.n_receive_bytes, block, layout.n_blocks);
  std::byte* const here = peers.memory[peers.rank];
  std::byte* const there = peers.memory[message.peer];
  Count* const counts = peers.counts + message.peer * layout.n_blocks + block;
  Count n_sent = counts[0];
  Count n_received = counts[layout.flags()];
  const auto* const send = static_cast<const std::byte*>(message.send);
  auto* const receive = static_cast<std::byte*>(message.receive);
  const bool leads = threadIdx.x == 0;
  for (int i = 0; i < max(sent.n_boxes(), received.n_boxes()); ++i) {
    if (i < sent.n_boxes()) {
      if (leads)
        wait_for(layout.flag(here, emptied, message.peer, block), n_sent - 1, peers.gives_up);
      __syncthreads();
      const std::int64_t begin = sent.begin + i * box_bytes;
      copy_together(layout.box(there, 0, peers.rank, block, n_sent), send + begin,
                    min(box_bytes, sent.end - begin));
      __syncthreads();
      ++n_sent;
      if (leads) raise(layout.flag(there, filled, peers.rank, block), n_sent);
    }
    if (i < received.n_boxes()) {
      if (leads)
        wait_for(layout.flag(here, filled, message.peer, block), n_received + 1, peers.gives_up);
      __syncthreads();
      const std::int64_t begin = received.begin + i * box_bytes;
      copy_together(receive + begin, layout.box(here, 0, message.peer, block, n_received),
                    min(box_bytes, received.end - begin));
      __syncthreads();
      ++n_received;
      if (leads) raise(layout.flag(there, emptied, peers.rank, block), n_received);
    }
  }
  if (leads) {
    counts[0] = n_sent;
    counts[layout.flags()] = n_received;
  }
}

/// Everybody writes to everybody, and adds up in the order of the ranks. A box is written again
/// after all have been heard of for the next one, so they have read it.
/// @tparam adds or takes what rank 0 has
/// @param n of which each block's part fits into a box
template <class T, bool adds>
__device__ void share(const Peers& peers, T* values, std::int64_t n, int block) {
  const Layout& layout = peers.layout;
  const Part part(n * static_cast<std::int64_t>(sizeof(T)), block, layout.n_blocks);
  const auto count = static_cast<int>((part.end - part.begin) / static_cast<int>(sizeof(T)));
  if (count == 0) return;
  T* const mine = values + part.begin / static_cast<int>(sizeof(T));
  std::byte* const here = peers.memory[peers.rank];
  Count* const counted = peers.counts + 2 * layout.flags() + block;
  const Count number = *counted;
  for (int i = 1; i < layout.n_ranks; ++i) {
    const int other = (peers.rank + i) % layout.n_ranks;
    T* const box =
        reinterpret_cast<T*>(layout.box(peers.memory[other], 1, peers.rank, block, number));
    for (int k = static_cast<int>(threadIdx.x); k < count; k += threads) box[k] = mine[k];
  }
  __syncthreads();
  const int other = static_cast<int>(threadIdx.x);
  if (other < layout.n_ranks && other != peers.rank) {
    raise(layout.flag(peers.memory[other], shared, peers.rank, block), number + 1);
    wait_for(layout.flag(here, shared, other, block), number + 1, peers.gives_up);
  }
  __syncthreads();
  const int n_added = adds ? layout.n_ranks : 1;
  for (int k = static_cast<int>(threadIdx.x); k < count; k += threads) {
    T sum = 0;
    for (int r = 0; r < n_added; ++r) {
      const T* const box = reinterpret_cast<const T*>(layout.box(here, 1, r, block, number));
      const T value = r == peers.rank ? mine[k] : __ldcg(box + k);
      sum = r == 0 ? value : sum + value;
    }
    mine[k] = sum;
  }
  if (threadIdx.x == 0) *counted = number + 1;
}

/// Block x of message y, or of what is shared behind the last.
template <class T, bool adds>
__global__ void __launch_bounds__(threads)
    travel_kernel(const __grid_constant__ Peers peers, const __grid_constant__ Messages messages,
                  int n_messages, T* values, std::int64_t n) {
  const int block = static_cast<int>(blockIdx.x);
  const int y = static_cast<int>(blockIdx.y);
  if (y < n_messages)
    exchange(peers, messages.of[y], block);
  else
    share<T, adds>(peers, values, n, block);
}

/// @param n as `share` has it; 0: nothing is shared
template <class T, bool adds>
void launch_travel(const Peers& peers, const std::vector<PeerMessage>& messages, T* values,
                   std::size_t n, void* stream) {
  const auto height = static_cast<unsigned>(messages.size() + (n > 0 ? 1 : 0));
  if (height == 0) return;
  Messages all{};
  std::ranges::copy(messages, all.of);
  const dim3 grid(static_cast<unsigned>(peers.layout.n_blocks), height);
  travel_kernel<T, adds><<<grid, threads, 0, static_cast<cudaStream_t>(stream)>>>(
      peers, all, static_cast<int>(messages.size()), values, static_cast<std::int64_t>(n));
  check_cuda(cudaGetLastError());
}

}  // namespace

PeerMemory::PeerMemory(int rank, int n_ranks) : rank_(rank), n_ranks_(n_ranks) {
  const Layout layout = Layout::of(n_ranks);
  const auto n_bytes = static_cast<std::size_t>(layout.bytes());
  const auto n_count_bytes = 3 * static_cast<std::size_t>(layout.flags()) * sizeof(Count);
  check_cuda(cudaHostAlloc(reinterpret_cast<void**>(&gives_up_), sizeof *gives_up_,
                           cudaHostAllocPortable | cudaHostAllocMapped));
  *gives_up_ = 0;
  check_cuda(cudaMalloc(reinterpret_cast<void**>(&counts_), n_count_bytes));
  check_cuda(cudaMemset(counts_, 0, n_count_bytes));
  void* mine = nullptr;
  check_cuda(cudaMalloc(&mine, n_bytes));
  memory_[static_cast<std::size_t>(rank)] = static_cast<std::byte*>(mine);
  check_cuda(cudaMemset(mine, 0, static_cast<std::size_t>(layout.boxes_begin())));
  check_cuda(cudaDeviceSynchronize());
}

PeerMemory::~PeerMemory() {
  close();
  cudaFree(memory_[static_cast<std::size_t>(rank_)]);
  cudaFree(counts_);
  cudaFreeHost(gives_up_);
}

PeerMemory::Handle PeerMemory::handle() const {
  cudaIpcMemHandle_t made;
  check_cuda(cudaIpcGetMemHandle(&made, memory_[static_cast<std::size_t>(rank_)]));
  Handle handle;
  static_assert(sizeof handle == sizeof made);
  std::copy_n(made.reserved, handle.size(), handle.begin());
  return handle;
}

void PeerMemory::open(const std::vector<Handle>& of_rank) {
  for (int r = 0; r < n_ranks_; ++r) {
    if (r == rank_) continue;
    cudaIpcMemHandle_t handle;
    std::copy_n(of_rank[static_cast<std::size_t>(r)].begin(), sizeof handle, handle.reserved);
    void* opened = nullptr;
    check_cuda(cudaIpcOpenMemHandle(&opened, handle, cudaIpcMemLazyEnablePeerAccess));
    memory_[static_cast<std::size_t>(r)] = static_cast<std::byte*>(opened);
  }
}

void PeerMemory::close() {
  for (int r = 0; r < n_ranks_; ++r) {
    std::byte*& memory = memory_[static_cast<std::size_t>(r)];
    if (r == rank_ || memory == nullptr) continue;
    cudaIpcCloseMemHandle(memory);
    memory = nullptr;
  }
}

/// The messages travel with the first part of the values.
template <class T, bool adds>
void PeerMemory::travel(const std::vector<PeerMessage>& messages, T* values, std::size_t n,
                        void* stream) const {
  Peers peers{Layout::of(n_ranks_), rank_, {}, counts_, gives_up_};
  std::ranges::copy(memory_, peers.memory);
  const std::size_t at_a_time = peers.layout.n_blocks * (box_bytes / sizeof(T));
  launch_travel<T, adds>(peers, messages, values, std::min(at_a_time, n), stream);
  for (std::size_t begin = at_a_time; begin < n; begin += at_a_time)
    launch_travel<T, adds>(peers, {}, values + begin, std::min(at_a_time, n - begin), stream);
}

void PeerMemory::exchange_and_sum(const std::vector<PeerMessage>& messages, float* values,
                                  std::size_t n, void* stream) {
  travel<float, true>(messages, values, n, stream);
}
void PeerMemory::exchange_and_sum(const std::vector<PeerMessage>& messages, double* values,
                                  std::size_t n, void* stream) {
  travel<double, true>(messages, values, n, stream);
}

void PeerMemory::broadcast(float* values, std::size_t n, void* stream) {
  travel<float, false>({}, values, n, stream);
}
void PeerMemory::broadcast(double* values, std::size_t n, void* stream) {
  travel<double, false>({}, values, n, stream);
}

void PeerMemory::give_up() {
  *static_cast<volatile int*>(gives_up_) = 1;
}

}  // namespace tessera::halo

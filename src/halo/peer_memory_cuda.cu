#include <algorithm>

#include <cuda_runtime.h>

#include "device/check_cuda.hpp"
#include "peer_kernel_cuda.cuh"
#include "peer_memory.hpp"

namespace tessera::halo {

using device::check_cuda;
using namespace peer_kernel;

namespace {

/// @param n as `share` has it; 0: nothing is shared
template <class T, bool adds>
void launch_travel(const Peers& peers, const PeerFields<T>& fields,
                   const std::vector<PeerMessage<T>>& messages, T* values, std::size_t n,
                   void* stream) {
  const auto height = static_cast<unsigned>(messages.size() + (n > 0 ? 1 : 0));
  if (height == 0) return;
  Exchange<T> all{fields, static_cast<int>(messages.size()), {}};
  std::ranges::copy(messages, all.messages);
  const dim3 grid(static_cast<unsigned>(peers.layout.n_blocks), height);
  travel_kernel<T, adds><<<grid, threads, 0, static_cast<cudaStream_t>(stream)>>>(
      peers, all, values, static_cast<std::int64_t>(n));
  check_cuda(cudaGetLastError());
}

}  // namespace

/// A multiprocessor has room for one.
int PeerMemory::n_blocks_that_fit(int n_ranks) {
  int device = 0;
  int n_multiprocessors = 0;
  check_cuda(cudaGetDevice(&device));
  check_cuda(cudaDeviceGetAttribute(&n_multiprocessors, cudaDevAttrMultiProcessorCount, device));
  constexpr int n_left = 4;  // for work that others wait for
  return std::clamp((n_multiprocessors - n_left) / n_ranks, 1, 64);
}

PeerMemory::PeerMemory(int rank, int n_ranks, int n_blocks)
    : rank_(rank), n_ranks_(n_ranks), n_blocks_(n_blocks) {
  const Layout layout{n_ranks, n_blocks};
  const auto n_bytes = static_cast<std::size_t>(layout.bytes());
  const auto n_count_bytes = (3 * static_cast<std::size_t>(layout.flags()) + 1) * sizeof(Count);
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
void PeerMemory::travel(const PeerFields<T>& fields, const std::vector<PeerMessage<T>>& messages,
                        T* values, std::size_t n, void* stream) const {
  const Layout layout{n_ranks_, n_blocks_};
  Peers peers{layout, rank_, {}, counts_, counts_ + 3 * layout.flags(), gives_up_};
  std::ranges::copy(memory_, peers.memory);
  const std::size_t at_a_time = layout.n_blocks * (box_bytes / sizeof(T));
  launch_travel<T, adds>(peers, fields, messages, values, std::min(at_a_time, n), stream);
  for (std::size_t begin = at_a_time; begin < n; begin += at_a_time)
    launch_travel<T, adds>(peers, {}, {}, values + begin, std::min(at_a_time, n - begin), stream);
}

void PeerMemory::exchange_and_sum(const PeerFields<float>& fields,
                                  const std::vector<PeerMessage<float>>& messages, float* values,
                                  std::size_t n, void* stream) {
  travel<float, true>(fields, messages, values, n, stream);
}
void PeerMemory::exchange_and_sum(const PeerFields<double>& fields,
                                  const std::vector<PeerMessage<double>>& messages, double* values,
                                  std::size_t n, void* stream) {
  travel<double, true>(fields, messages, values, n, stream);
}

void PeerMemory::broadcast(float* values, std::size_t n, void* stream) {
  travel<float, false>({}, {}, values, n, stream);
}
void PeerMemory::broadcast(double* values, std::size_t n, void* stream) {
  travel<double, false>({}, {}, values, n, stream);
}

void PeerMemory::give_up() {
  *static_cast<volatile int*>(gives_up_) = 1;
}

}  // namespace tessera::halo

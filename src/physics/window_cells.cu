#include "window_cells_cuda.cuh"

namespace tessera::physics::hot_path {
namespace {

__device__ __forceinline__ Window window_of(const ScanArrays& scan, const ChunkArrays& batch,
                                            int j) {
  const int position = scan.order[batch.begin + j];
  const int2 corner = reinterpret_cast<const int2*>(scan.corner)[position];
  return {corner.x, corner.y, slot_of(scan, batch, j), position};
}

__global__ void count_kernel(const __grid_constant__ ScanArrays scan,
                             const __grid_constant__ ChunkArrays batch,
                             const __grid_constant__ Cells cells) {
  follow_earlier_kernels();
  const int j = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (j < batch.count) atomicAdd(cells.count + cells.of(window_of(scan, batch, j)), 1);
}

/// One block: a thread adds up neighbouring cells, a warp its threads, the block its warps.
__global__ void __launch_bounds__(1024) begin_kernel(const __grid_constant__ Cells cells) {
  __shared__ int of_warp[32];
  follow_earlier_kernels();
  const int t = static_cast<int>(threadIdx.x);
  const int each = (cells.size() + 1023) / 1024;
  const int first = min(cells.size(), t * each);
  const int last = min(cells.size(), first + each);
  int own = 0;
  for (int i = first; i < last; ++i) own += cells.count[i];
  int end = own;
  for (int step = 1; step < 32; step *= 2) {
    const int before = __shfl_up_sync(~0U, end, step);
    if (t % 32 >= step) end += before;
  }
  if (t % 32 == 31) of_warp[t / 32] = end;
  __syncthreads();
  for (int w = 0; w < t / 32; ++w) end += of_warp[w];
  if (t == 1023) cells.begin[cells.size()] = end;
  for (int i = first, begin = end - own; i < last; ++i) {
    cells.begin[i] = cells.next[i] = begin;
    begin += cells.count[i];
    cells.count[i] = 0;
  }
}

__global__ void deal_kernel(const __grid_constant__ ScanArrays scan,
                            const __grid_constant__ ChunkArrays batch,
                            const __grid_constant__ Cells cells) {
  follow_earlier_kernels();
  const int j = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (j >= batch.count) return;
  const Window window = window_of(scan, batch, j);
  cells.store(atomicAdd(cells.next + cells.of(window), 1), window);
}

}  // namespace

void sort_windows(void* stream, const ScanArrays& scan, const ChunkArrays& batch,
                  const Cells& cells) {
  constexpr int places = 256;
  const dim3 blocks((batch.count + places - 1) / places);
  launch(count_kernel, blocks, places, 0, stream, scan, batch, cells);
  launch(begin_kernel, dim3(1), 1024, 0, stream, cells);
  launch(deal_kernel, blocks, places, 0, stream, scan, batch, cells);
}

}  // namespace tessera::physics::hot_path

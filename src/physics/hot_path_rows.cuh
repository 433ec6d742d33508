#pragma once
/// What the kernels of the hot path share that work on rows: where a row lies, its shared memory,
/// its sums, its launch.

#include "hot_path_cuda.cuh"

namespace tessera::physics::hot_path {

/// What the threads of one row share.
struct RowPlace {
  std::int64_t object;  ///< of the row's first pixel, in object pixels
  int slot;
  int position;
};

__device__ __forceinline__ RowPlace place_of(const ScanArrays& scan, const ChunkArrays& chunk,
                                             int j, int y) {
  const int k = chunk.begin + j;
  const int position = scan.order[k];
  return {(scan.corner[2 * position] + y) * chunk.object_width + scan.corner[2 * position + 1],
          slot_of(scan, chunk, j), position};
}

/// Floats from the last 16-byte boundary to p.
__device__ __forceinline__ int phase_of(const void* p) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(p) / sizeof(float) % 4);
}

/// sum[0 ... count) += staged[phase ... phase + count), phase = phase_of(sum), by the threads of a
/// row, 16 bytes at a time: an atomic costs per request, not per byte. count: multiple of 4.
template <int threads>
__device__ __forceinline__ void add_row(float* sum, const float* staged, int phase, int count,
                                        int t) {
  if (phase > 0 && t < 4) {  // what lies before the first boundary and behind the last
    const int i = t < 4 - phase ? t : count - 4 + t;
    atomicAdd(sum + i, staged[phase + i]);
  }
  float* const aligned = sum - phase;
  for (int i = 4 * t + (phase > 0 ? 4 : 0); i + 4 <= phase + count; i += 4 * threads)
    add_float4(aligned + i, *reinterpret_cast<const float4*>(staged + i));
}

/// Shared memory of a row: the exchange buffer, then a sum of row length.
template <int n>
struct RowMemory {
  using Block = RowBlock<n>;
  static constexpr int sum_pitch = Block::skew(n + 2);  ///< float2; room for a shifted start
  static constexpr int exchange = n + Block::rows * Block::buffer_pitch;
  static constexpr int size = exchange + Block::rows * sum_pitch;  ///< float2

  float2* twiddles;
  __device__ float2* exchange_of(const Block& block) const {
    return twiddles + n + block.row * Block::buffer_pitch;
  }
  __device__ float2* sum_of(const Block& block) const {
    return twiddles + exchange + block.row * sum_pitch;
  }
};

/// A block for some rows of a run of places, for every mode or `n_planes` of them.
template <int n, auto kernel, class... Arguments>
void launch_rows(int n_planes, void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                 const Arguments&... arguments) {
  using Block = RowBlock<n>;
  static const int resident = resident_blocks(kernel, Block::threads, RowMemory<n>::size);
  const int run = run_length(chunk.count, n / Block::rows * n_planes, resident);
  const dim3 grid(n / Block::rows, (chunk.count + run - 1) / run, n_planes);
  launch(kernel, grid, Block::threads, RowMemory<n>::size, stream, scan, chunk, arguments..., run);
}

}  // namespace tessera::physics::hot_path

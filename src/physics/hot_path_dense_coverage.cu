/// Overlap of dense batches, which are told here; `hot_path_dense_dose.cu`: their dose. What
/// overlaps is added up on the chip, not in memory.

#include <algorithm>

#include "window_cells_cuda.cuh"

namespace tessera::physics::hot_path {
namespace {

constexpr int strip = 64;  ///< rows of a window that a block takes
constexpr int threads = 512;
constexpr int warps = threads / 32;

/// What a block of `dense_overlap_kernel` has on the chip.
template <int n>
struct ObjectOnChip {
  static constexpr int width = cell - 1 + n;
  static constexpr int height = cell - 1 + strip;
  float intensity[height][width];  ///< of the object where windows of a cell lie
  int at[threads];                 ///< of windows: their first pixel there
  float weight[threads];

  /// @param y first row, of the object
  __device__ void load(const ChunkArrays& batch, int y, int x) {
    constexpr int across = (width + 31) / 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll 2
    for (int row = warp; row < height; row += warps) {
      const float2* const object = as_float2(batch.object) + (y + row) * batch.object_width + x;
      float2 o[across];
#pragma unroll
      for (int k = 0; k < across; ++k) {
        const int column = 32 * k + lane;
        const bool there = y + row < batch.object_height && x + column < batch.object_width;
        o[k] = there && column < width ? __ldg(object + column) : float2{};
      }
#pragma unroll
      for (int k = 0; k < across; ++k)
        if (32 * k + lane < width) intensity[row][32 * k + lane] = power(o[k]);
    }
  }
};

/// overlap += |object|^2. A block takes some rows of all windows whose corners lie in its cells.
template <int n>
__global__ void __launch_bounds__(threads)
    dense_overlap_kernel(const __grid_constant__ ScanArrays scan,
                         const __grid_constant__ ChunkArrays batch,
                         const __grid_constant__ Cells cells) {
  using Chip = ObjectOnChip<n>;
  constexpr int across = n / 32;         // warps beside each other; they take 32 columns
  constexpr int apart = warps / across;  // rows of a warp
  constexpr int rows = strip / apart;
  extern __shared__ float4 shared[];
  Chip& chip = *reinterpret_cast<Chip*>(shared);
  follow_earlier_kernels();
  const int t = static_cast<int>(threadIdx.x);
  const int row = t / 32 / across;
  const int column = t % (32 * across);
  const int first_row = static_cast<int>(blockIdx.y) * strip;
  const float* const own = &chip.intensity[row][column];
  float sum[rows] = {};
  for (int c = static_cast<int>(blockIdx.x); c < cells.size(); c += static_cast<int>(gridDim.x)) {
    const int end = cells.begin[c + 1];
    if (cells.begin[c] == end) continue;
    chip.load(batch, c / cells.across * cell + first_row, c % cells.across * cell);
    for (int first = cells.begin[c]; first < end; first += threads) {
      if (first + t < end) {
        const Window window = cells.window(first + t);
        chip.at[t] = window.y % cell * Chip::width + window.x % cell;
        chip.weight[t] = scan.intensity ? scan.intensity[window.position] : 1.F;
      }
      __syncthreads();
      const int count = min(threads, end - first);
#pragma unroll 2
      for (int i = 0; i < count; ++i) {
        const float* const window = own + chip.at[i];
        const float weight = chip.weight[i];
#pragma unroll
        for (int k = 0; k < rows; ++k) sum[k] += weight * window[k * apart * Chip::width];
      }
      __syncthreads();
    }
  }
  float* const overlap = batch.overlap + (first_row + row) * n + column;
#pragma unroll
  for (int k = 0; k < rows; ++k) atomicAdd(overlap + k * apart * n, sum[k]);
}

template <int n>
void add_overlap(void* stream, const ScanArrays& scan, const ChunkArrays& batch,
                 const Cells& cells) {
  constexpr int strips = n / strip;
  constexpr int n_shared = sizeof(ObjectOnChip<n>) / sizeof(float2) + 1;
  const int resident = resident_blocks(dense_overlap_kernel<n>, threads, n_shared);
  const int blocks = std::clamp(multiprocessors() * resident / strips, 1, cells.size());
  launch(dense_overlap_kernel<n>, dim3(blocks, strips), threads, n_shared, stream, scan, batch,
         cells);
}

}  // namespace

bool covers_densely(int n, std::int64_t height, std::int64_t width, int count, int n_slots) {
  if (!fits_on_chip(n, 1) || !counts_pixels(height * width) || n_slots > most_dense_slots)
    return false;
  // Measured: decision 0027. The object's part of a cell is read once for all its windows; a slot
  // is read once for every tile, and a window's dose added once.
  const std::int64_t n_cells = std::int64_t{cells_along(height, n)} * cells_along(width, n);
  const std::int64_t least = n_slots == 0 ? 768 : 1536;
  return std::int64_t{count} * n >= least * n_cells &&
         std::int64_t{tiles_of_dose(height, width)} * n_slots <= count;
}

std::int64_t dense_coverage_places(std::int64_t n_positions) {
  return 5 * n_positions + 4;  // at most a cell for every three positions
}

void add_dense_coverage(void* stream, const ScanArrays& scan, const ChunkArrays& batch, int n_slots,
                        const DenseScratch& scratch) {
  if (!batch.dose && !batch.overlap) return;
  const Cells cells(scan, batch, scratch.places);
  sort_windows(stream, scan, batch, cells);
  with_chip_size(scan.n, [&](auto size) {
    if (batch.overlap) add_overlap<size>(stream, scan, batch, cells);
  });
  if (batch.dose) add_dense_dose(stream, scan, batch, n_slots, cells, scratch.powers);
}

}  // namespace tessera::physics::hot_path

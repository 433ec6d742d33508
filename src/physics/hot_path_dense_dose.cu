/// Dose of dense batches: a block has a part of it in registers and takes the windows that meet it,
/// slot by slot.

#include <algorithm>

#include <cuda_pipeline_primitives.h>

#include "window_cells_cuda.cuh"

namespace tessera::physics::hot_path {
namespace {

constexpr int threads = 512;
constexpr int warps = threads / 32;
constexpr int most_slots = 128;     ///< of a block
constexpr int most_windows = 8192;  ///< that a block sorts at a time

/// powers(slot) = sum_m |probe_m|^2
__global__ void powers_kernel(const __grid_constant__ ScanArrays scan,
                              const __grid_constant__ ChunkArrays batch,
                              float* __restrict__ powers) {
  follow_earlier_kernels();
  const int area = scan.n * scan.n;
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const float2* const probe =
      as_float2(batch.probes) + static_cast<std::int64_t>(blockIdx.y) * scan.n_modes * area + i;
  float sum = 0;
  for (int m = 0; m < scan.n_modes; ++m) sum += power(__ldg(probe + m * area));
  powers[static_cast<std::int64_t>(blockIdx.y) * area + i] = sum;
}

/// A block's part of the dose, from a pixel of the object on.
struct Tile {
  static constexpr int height = 128;
  static constexpr int width = 256;
  int y;
  int x;
  static constexpr int along(std::int64_t pixels, int size) {
    return static_cast<int>((pixels + size - 1) / size);
  }
  __device__ static Tile of_block(const ChunkArrays& batch) {
    const auto i = static_cast<int>(blockIdx.x);
    const auto across = static_cast<int>((batch.object_width + width - 1) / width);
    return {i / across * height, i % across * width};
  }
};

/// What a block has on the chip.
template <int n>
struct DoseOnChip {
  static constexpr int rows = n == 256 ? 32 : 64;  ///< of a strip
  static constexpr int strips = n / rows;          ///< of a slot
  static constexpr int together = 16;  ///< rows that a warp adds, all or none: hence zeros around
  static constexpr int above = together - 1;
  static constexpr int beside = 32;
  static constexpr int width = n + 2 * beside;
  static constexpr int height = rows + 2 * above;
  float power[2][height][width];  ///< of strips, the next one on its way
  std::int16_t y[most_windows];   ///< corners of windows that meet the tile, from its own, by slot
  std::int16_t x[most_windows];
  int begin[most_slots + 1];  ///< of a slot's windows
  int next[most_slots];

  __device__ void clear() {
    float* const values = &power[0][0][0];
    for (int i = static_cast<int>(threadIdx.x); i < 2 * height * width; i += threads) values[i] = 0;
  }
  __device__ void fetch(int buffer, const float* powers, int strip) {
    const float* const from = powers + static_cast<std::int64_t>(strip) * rows * n;
    for (int k = static_cast<int>(threadIdx.x); k < rows * n / 4; k += threads)
      __pipeline_memcpy_async(&power[buffer][above + 4 * k / n][beside + 4 * k % n], from + 4 * k,
                              16);
    __pipeline_commit();
  }
  /// From `strip` on, the first one of a slot that has windows, or `end`.
  __device__ int seen_from(int strip, int end) const {
    while (strip < end && begin[strip / strips] == begin[strip / strips + 1]) strip += strips;
    return strip;
  }
};

/// Slots that a block takes.
struct OwnSlots {
  int first;
  int count;
  __device__ static OwnSlots of_block(int n_slots) {
    const auto groups = static_cast<int>(gridDim.y);
    const auto group = static_cast<int>(blockIdx.y);
    const int first = group * n_slots / groups;
    return {first, (group + 1) * n_slots / groups - first};
  }
};

/// Windows that may meet a tile: in cells beside each other they follow one another.
template <int n>
struct Candidates {
  int top;
  int bottom;
  int left;
  int right;
  __device__ Candidates(const Cells& cells, const Tile& tile)
      : top(max(0, tile.y - n + 1) / cell),
        bottom(min(cells.down - 1, (tile.y + Tile::height - 1) / cell)),
        left(max(0, tile.x - n + 1) / cell),
        right(min(cells.across - 1, (tile.x + Tile::width - 1) / cell)) {}
  /// f(window) of those with numbers in [first, first + most_windows). @return how many there are
  template <class F>
  __device__ int visit(const Cells& cells, int first, const F& f) const {
    int before = 0;
    for (int row = top; row <= bottom; ++row) {
      const int begin = cells.begin[row * cells.across + left];
      const int end = cells.begin[row * cells.across + right + 1];
      const int from = max(begin, begin + first - before);
      const int to = min(end, begin + first + most_windows - before);
      for (int i = from + static_cast<int>(threadIdx.x); i < to; i += threads) f(cells.window(i));
      before += end - begin;
    }
    return before;
  }
};

/// chip.y, x, begin = windows of the candidates from number `first` on that meet the tile.
/// @return how many candidates there are
template <int n>
__device__ int sort_by_slot(DoseOnChip<n>& chip, const Cells& cells, const Tile& tile,
                            const OwnSlots& own, int first) {
  const int t = static_cast<int>(threadIdx.x);
  const Candidates<n> candidates(cells, tile);
  const auto if_own = [&](const Window& window, const auto& f) {
    const int y = window.y - tile.y;
    const int x = window.x - tile.x;
    const int slot = window.slot - own.first;
    if (slot >= 0 && slot < own.count && y > -n && y < Tile::height && x > -n && x < Tile::width)
      f(slot, y, x);
  };
  __syncthreads();
  if (t < own.count) chip.next[t] = 0;
  __syncthreads();
  candidates.visit(cells, first, [&](const Window& window) {
    if_own(window, [&](int slot, int, int) { atomicAdd(&chip.next[slot], 1); });
  });
  __syncthreads();
  if (t == 0) {
    chip.begin[0] = 0;
    for (int s = 0; s < own.count; ++s) {
      chip.begin[s + 1] = chip.begin[s] + chip.next[s];
      chip.next[s] = chip.begin[s];
    }
  }
  __syncthreads();
  const int count = candidates.visit(cells, first, [&](const Window& window) {
    if_own(window, [&](int slot, int y, int x) {
      const int at = atomicAdd(&chip.next[slot], 1);
      chip.y[at] = static_cast<std::int16_t>(y);
      chip.x[at] = static_cast<std::int16_t>(x);
    });
  });
  __syncthreads();
  return count;
}

/// A warp's pixels of a tile, 32 beside each other; a thread's are below each other.
template <int n>
struct DoseOfWarp {
  using Chip = DoseOnChip<n>;
  static constexpr int across = Tile::width / 32;
  static constexpr int rows = Tile::height * across / warps;
  static constexpr int together = Chip::together;
  int y = static_cast<int>(threadIdx.x) / 32 / across * rows;
  int x = static_cast<int>(threadIdx.x) / 32 % across * 32;
  int lane = static_cast<int>(threadIdx.x) % 32;
  float sum[rows / together][together] = {};

  /// The strip in `buffer` of every window of its slot.
  __device__ void add(const Chip& chip, int buffer, int strip) {
    const int end = chip.begin[strip / Chip::strips + 1];
    for (int i = chip.begin[strip / Chip::strips]; i < end; i += 32) {
      // Of 32 windows, each looked at by a lane, those that meet the warp's pixels: few do.
      const int own = min(i + lane, end - 1);
      const int own_y = y - chip.y[own] - strip % Chip::strips * Chip::rows;
      const int own_x = x - chip.x[own];
      const bool meets =
          i + lane < end && own_x > -32 && own_x < n && own_y > -rows && own_y < Chip::rows;
      for (unsigned left = __ballot_sync(~0U, meets); left != 0; left &= left - 1) {
        const int from = __ffs(static_cast<int>(left)) - 1;
        add_window(chip.power[buffer], __shfl_sync(~0U, own_y, from),
                   __shfl_sync(~0U, own_x, from));
      }
    }
  }
  /// @param from_y, from_x pixel of the window, in the strip, where the warp's first pixel is
  __device__ __forceinline__ void add_window(const float (&power)[Chip::height][Chip::width],
                                             int from_y, int from_x) {
#pragma unroll
    for (int g = 0; g < rows / together; ++g) {
      const int row = from_y + g * together;
      if (row <= -together || row >= Chip::rows) continue;
      const float* const probe = &power[Chip::above + row][Chip::beside + from_x + lane];
#pragma unroll
      for (int r = 0; r < together; ++r) sum[g][r] += probe[r * Chip::width];
    }
  }
  __device__ void store(const ChunkArrays& batch, const Tile& tile) const {
    const int column = tile.x + x + lane;
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const int row = tile.y + y + r;
      const float own = sum[r / together][r % together];
      if (row < batch.object_height && column < batch.object_width && own != 0)
        atomicAdd(batch.dose + row * batch.object_width + column, own);
    }
  }
};

/// dose += powers. A block takes some slots' windows of a tile, slot after slot.
template <int n>
__global__ void __launch_bounds__(threads)
    dense_dose_kernel(const __grid_constant__ ChunkArrays batch,
                      const __grid_constant__ Cells cells, const float* __restrict__ powers,
                      int n_slots) {
  extern __shared__ float4 shared[];
  DoseOnChip<n>& chip = *reinterpret_cast<DoseOnChip<n>*>(shared);
  follow_earlier_kernels();
  const Tile tile = Tile::of_block(batch);
  const OwnSlots own = OwnSlots::of_block(n_slots);
  const float* const own_powers = powers + static_cast<std::int64_t>(own.first) * n * n;
  const int end = own.count * DoseOnChip<n>::strips;
  DoseOfWarp<n> dose;
  chip.clear();
  for (int first = 0, last = 1; first < last; first += most_windows) {
    last = sort_by_slot(chip, cells, tile, own, first);
    int strip = chip.seen_from(0, end);
    if (strip < end) chip.fetch(0, own_powers, strip);
    for (int buffer = 0; strip < end; buffer = 1 - buffer) {
      const int next = chip.seen_from(strip + 1, end);
      if (next < end) {
        chip.fetch(1 - buffer, own_powers, next);
        __pipeline_wait_prior(1);
      } else {
        __pipeline_wait_prior(0);
      }
      __syncthreads();
      dose.add(chip, buffer, strip);
      __syncthreads();
      strip = next;
    }
  }
  dose.store(batch, tile);
}

template <int n>
void add_dose(void* stream, const ScanArrays& scan, const ChunkArrays& batch, int n_slots,
              const Cells& cells, float* powers) {
  constexpr int n_shared = sizeof(DoseOnChip<n>) / sizeof(float2) + 1;
  launch(powers_kernel, dim3(n * n / 256, n_slots), 256, 0, stream, scan, batch, powers);
  // Several turns of all multiprocessors, so that the last one leaves few idle.
  const int tiles = tiles_of_dose(batch.object_height, batch.object_width);
  const int for_turns = 5 * multiprocessors() / tiles + 1;
  const int groups =
      std::max((n_slots + most_slots - 1) / most_slots, std::min(n_slots, for_turns));
  launch(dense_dose_kernel<n>, dim3(tiles, groups), threads, n_shared, stream, batch, cells,
         static_cast<const float*>(powers), n_slots);
}

}  // namespace

int tiles_of_dose(std::int64_t height, std::int64_t width) {
  return Tile::along(height, Tile::height) * Tile::along(width, Tile::width);
}

void add_dense_dose(void* stream, const ScanArrays& scan, const ChunkArrays& batch, int n_slots,
                    const Cells& cells, float* powers) {
  with_chip_size(scan.n,
                 [&](auto size) { add_dose<size>(stream, scan, batch, n_slots, cells, powers); });
}

}  // namespace tessera::physics::hot_path

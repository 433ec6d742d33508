/// The kernel of the hot path that works on columns: the detector.

#include "hot_path_detector.cuh"

namespace tessera::physics::hot_path {
namespace {

/// Modes whose waves the registers of one thread hold side by side.
template <int n>
constexpr int max_held = n >= 512 ? 32 / Line<n>::elements : 1;

/// Blocks that the registers of a multiprocessor hold: waves, counts, factors, and what else.
template <int n, int modes>
constexpr int held_blocks = (64 << 10) / (ColumnBlock<n, columns_of_block<n>>::mode_threads *
                                          (2 * Line<n>::elements * (modes + 1) + 32));

/// There and back along y with the comparison between, every mode in the same thread's registers.
template <int n, int modes>
__global__ void __launch_bounds__(ColumnBlock<n, columns_of_block<n>>::mode_threads,
                                  held_blocks<n, modes>)
    detector_columns_kernel(ScanArrays scan, ChunkArrays chunk, float2* __restrict__ waves) {
  using L = Line<n>;
  constexpr int columns = columns_of_block<n>;
  constexpr int step = L::threads * n;
  extern __shared__ float4 shared[];
  auto* const twiddles = reinterpret_cast<float2*>(shared);
  const ColumnBlock<n, columns> block;
  float2* const buffer = twiddles + n + static_cast<int>(threadIdx.x) % columns;
  const int first = block.t * n + block.x;
  unsigned raw[L::elements];
  load_counts(scan, pattern_of(scan, chunk, block.j) + first, step, L::elements, raw);
  follow_earlier_kernels();
  float2* const wave = waves + image_row(block.j, modes, 0, n, 0) + first;
  float2 v[modes][L::elements];
#pragma unroll
  for (int m = 0; m < modes; ++m)
#pragma unroll
    for (int s = 0; s < L::elements; ++s) v[m][s] = wave[m * n * n + s * step];
  make_twiddles<n>(twiddles);
  float factor[L::elements] = {};
#pragma unroll
  for (int m = 0; m < modes; ++m) {
    transform<n, -1, Lines::columns, columns>(v[m], block.t, twiddles, buffer);
#pragma unroll
    for (int s = 0; s < L::elements; ++s) factor[s] += power(v[m][s]);
  }
  float sum[n_compared] = {};
  with_noise_model(scan, [&](auto comparing) {
#pragma unroll
    for (int s = 0; s < L::elements; ++s)
      factor[s] = compare<comparing>(scan, first + s * step, raw[s], factor[s],
                                     chunk.background_slopes, sum);
  });
#pragma unroll
  for (int m = 0; m < modes; ++m) {
#pragma unroll
    for (int s = 0; s < L::elements; ++s) v[m][s] = v[m][s] * factor[s];
    transform<n, 1, Lines::columns, columns>(v[m], block.t, twiddles, buffer);
#pragma unroll
    for (int s = 0; s < L::elements; ++s) wave[m * n * n + s * step] = v[m][s];
  }
  add_sums(scan.noise, sum, chunk.sums);
}

/// The same with every mode in threads of its own, which share the comparison out.
template <int n, int columns>
__global__ void __launch_bounds__(max_threads, 2)
    detector_columns_abreast_kernel(ScanArrays scan, ChunkArrays chunk,
                                    float2* __restrict__ waves) {
  using L = Line<n>;
  using Block = ColumnBlock<n, columns>;
  constexpr int step = L::threads * n;
  constexpr int mode_buffer = L::buffer * columns;
  extern __shared__ float4 shared[];
  auto* const twiddles = reinterpret_cast<float2*>(shared);
  float2* const buffers = twiddles + n;
  const Block block;
  const int thread = static_cast<int>(threadIdx.x);
  // Of the thread's own pixels.
  const int first_y = thread / columns;
  const int step_y = scan.n_modes * L::threads;
  const int mine = (n - first_y + step_y - 1) / step_y;
  const int first = first_y * n + block.x;
  unsigned raw[L::elements / 2];
  load_counts(scan, pattern_of(scan, chunk, block.j) + first, step_y * n, mine, raw);
  follow_earlier_kernels();
  float2* const wave = waves + image_row(block.j, scan.n_modes, block.mode, n, block.t) + block.x;
  float2 v[L::elements];
#pragma unroll
  for (int s = 0; s < L::elements; ++s) v[s] = wave[s * step];
  make_twiddles<n>(twiddles);
  float2* const buffer = buffers + block.mode * mode_buffer + thread % columns;
  transform<n, -1, Lines::columns, columns>(v, block.t, twiddles, buffer);
  // The modes meet in the exchange buffers: (mode, y, column).
  auto* const powers = reinterpret_cast<float*>(buffers);
  const int mode_thread = thread % Block::mode_threads;
  __syncthreads();
#pragma unroll
  for (int s = 0; s < L::elements; ++s)
    powers[2 * block.mode * mode_buffer + s * Block::mode_threads + mode_thread] = power(v[s]);
  __syncthreads();
  float sum[n_compared] = {};
  with_noise_model(scan, [&](auto comparing) {
#pragma unroll
    for (int s = 0; s < L::elements / 2; ++s) {
      if (s >= mine) break;
      float* const at = powers + thread + s * scan.n_modes * Block::mode_threads;
      float intensity = 0;
      for (int m = 0; m < scan.n_modes; ++m) intensity += at[2 * m * mode_buffer];
      *at = compare<comparing>(scan, first + s * step_y * n, raw[s], intensity,
                               chunk.background_slopes, sum);
    }
  });
  __syncthreads();
#pragma unroll
  for (int s = 0; s < L::elements; ++s) v[s] = v[s] * powers[s * Block::mode_threads + mode_thread];
  transform<n, 1, Lines::columns, columns>(v, block.t, twiddles, buffer);
#pragma unroll
  for (int s = 0; s < L::elements; ++s) wave[s * step] = v[s];
  add_sums(scan.noise, sum, chunk.sums);
}

/// The same for more modes than registers hold: they wait in `waves`.
template <int n>
__global__ void __launch_bounds__(ColumnBlock<n, columns_of_block<n>>::mode_threads,
                                  held_blocks<n, 1>)
    detector_columns_in_turn_kernel(ScanArrays scan, ChunkArrays chunk,
                                    float2* __restrict__ waves) {
  using L = Line<n>;
  constexpr int columns = columns_of_block<n>;
  constexpr int step = L::threads * n;
  extern __shared__ float4 shared[];
  auto* const twiddles = reinterpret_cast<float2*>(shared);
  make_twiddles<n>(twiddles);
  follow_earlier_kernels();
  const ColumnBlock<n, columns> block;
  float2* const buffer = twiddles + n + static_cast<int>(threadIdx.x) % columns;
  const int first = block.t * n + block.x;
  float2* const wave = waves + image_row(block.j, scan.n_modes, 0, n, 0) + first;
  float factor[L::elements] = {};
  float2 v[L::elements];
  for (int m = 0; m < scan.n_modes; ++m) {
#pragma unroll
    for (int s = 0; s < L::elements; ++s) v[s] = wave[m * n * n + s * step];
    transform<n, -1, Lines::columns, columns>(v, block.t, twiddles, buffer);
#pragma unroll
    for (int s = 0; s < L::elements; ++s) {
      factor[s] += power(v[s]);
      wave[m * n * n + s * step] = v[s];
    }
  }
  unsigned raw[L::elements];
  load_counts(scan, pattern_of(scan, chunk, block.j) + first, step, L::elements, raw);
  float sum[n_compared] = {};
  with_noise_model(scan, [&](auto comparing) {
#pragma unroll
    for (int s = 0; s < L::elements; ++s)
      factor[s] = compare<comparing>(scan, first + s * step, raw[s], factor[s],
                                     chunk.background_slopes, sum);
  });
  for (int m = 0; m < scan.n_modes; ++m) {
#pragma unroll
    for (int s = 0; s < L::elements; ++s) v[s] = wave[m * n * n + s * step] * factor[s];
    transform<n, 1, Lines::columns, columns>(v, block.t, twiddles, buffer);
#pragma unroll
    for (int s = 0; s < L::elements; ++s) wave[m * n * n + s * step] = v[s];
  }
  add_sums(scan.noise, sum, chunk.sums);
}

/// A block for `columns` columns, with `modes` modes in threads of their own.
template <int n, int columns>
void launch_columns(void (*kernel)(ScanArrays, ChunkArrays, float2*), int modes, void* stream,
                    const ScanArrays& scan, const ChunkArrays& chunk, float2* waves) {
  using Block = ColumnBlock<n, columns>;
  launch(kernel, dim3(chunk.count * Block::groups), modes * Block::mode_threads,
         n + modes * Line<n>::buffer * columns, stream, scan, chunk, waves);
}

/// @return false: the registers do not hold so many modes
template <int n, int modes = 1>
bool launch_held(void* stream, const ScanArrays& scan, const ChunkArrays& chunk, float2* waves) {
  if (scan.n_modes == modes) {
    launch_columns<n, columns_of_block<n>>(detector_columns_kernel<n, modes>, 1, stream, scan,
                                           chunk, waves);
    return true;
  }
  if constexpr (modes < max_held<n>)
    return launch_held<n, modes + 1>(stream, scan, chunk, waves);
  else
    return false;
}

/// Fewer columns a block for more modes; four make a sector, and a warp must be whole.
/// @return false: a block does not hold so many modes
template <int n, int columns = columns_of_block<n>>
bool launch_abreast(void* stream, const ScanArrays& scan, const ChunkArrays& chunk, float2* waves) {
  constexpr int mode_threads = ColumnBlock<n, columns>::mode_threads;
  if constexpr (mode_threads > max_threads / 2 || mode_threads < 32 || columns < 4) {
    return false;
  } else {
    if (mode_threads * scan.n_modes > max_threads)
      return launch_abreast<n, columns / 2>(stream, scan, chunk, waves);
    launch_columns<n, columns>(detector_columns_abreast_kernel<n, columns>, scan.n_modes, stream,
                               scan, chunk, waves);
    return true;
  }
}

}  // namespace

void detector_columns(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                      Complex* waves) {
  with_size(scan.n, [&](auto size) {
    constexpr int n = size;
    float2* const w = as_float2(waves);
    if (!launch_held<n>(stream, scan, chunk, w) && !launch_abreast<n>(stream, scan, chunk, w))
      launch_columns<n, columns_of_block<n>>(detector_columns_in_turn_kernel<n>, 1, stream, scan,
                                             chunk, w);
  });
}

}  // namespace tessera::physics::hot_path

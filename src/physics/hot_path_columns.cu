/// The kernel of the hot path that works on columns: the detector.

#include "hot_path_cuda.cuh"

namespace tessera::physics::hot_path {
namespace {

/// Of a block: their registers hold its modes.
template <int n>
constexpr int most_threads = n >= 512 ? 384 : 512;

/// Counts as they lie in memory, so that nothing waits for them before they are needed.
template <int n>
__device__ __forceinline__ void load_counts(const Scan& scan, std::int64_t at, int t,
                                            unsigned (&raw)[Line<n>::elements]) {
  const auto load = [&](const auto* patterns) {
    const auto* const first = patterns + at + t * n;
#pragma unroll
    for (int s = 0; s < Line<n>::elements; ++s) raw[s] = __ldcs(first + Line<n>::threads * s * n);
  };
  switch (scan.counts) {
    case Counts::u8:
      return load(static_cast<const unsigned char*>(scan.patterns));
    case Counts::u16:
      return load(static_cast<const unsigned short*>(scan.patterns));
    default:
      return load(static_cast<const unsigned*>(scan.patterns));
  }
}

/// Relative error below 2^-22; 0 of 0.
__device__ __forceinline__ float fast_sqrt(float x) {
  float root;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
  return root;
}

/// Model intensity of a thread's pixels to the factors that turn waves into residuals.
template <int n>
__device__ __forceinline__ void compare(const Scan& scan, int x, int t,
                                        const unsigned (&raw)[Line<n>::elements],
                                        float (&intensity)[Line<n>::elements], float (&sum)[4]) {
  const float* const first_valid = scan.valid + t * n + x;
#pragma unroll
  for (int s = 0; s < Line<n>::elements; ++s) {
    const float valid = __ldg(first_valid + Line<n>::threads * s * n);
    const float count =
        scan.counts == Counts::f32 ? __uint_as_float(raw[s]) : static_cast<float>(raw[s]);
    const float measured = count * valid;
    const float measured_amplitude = fast_sqrt(measured);
    const float model_amplitude = fast_sqrt(intensity[s]);
    const float difference = (model_amplitude - measured_amplitude) * valid;
    sum[0] += difference * difference;
    sum[1] += fabsf(difference);
    sum[2] += measured;
    sum[3] += measured_amplitude;
    intensity[s] = __fdividef(-difference, model_amplitude + 1e-10F);
  }
}

/// sums += sum over the block's threads. `scratch`: 4 doubles a warp.
__device__ __forceinline__ void add_sums(const float (&sum)[4], double* scratch, double* sums) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    float total = sum[i];
    for (int step = 16; step > 0; step /= 2) total += __shfl_xor_sync(~0U, total, step);
    if (lane == i) scratch[4 * warp + i] = total;
  }
  __syncthreads();
  if (threadIdx.x >= 4) return;
  double total = 0;
  for (int w = 0; w < static_cast<int>(blockDim.x) / 32; ++w) total += scratch[4 * w + lane];
  atomicAdd(sums + lane, total);
}

/// There and back along y with the comparison between, every mode in its threads' registers.
template <int n, int columns, bool one_mode>
__global__ void __launch_bounds__(one_mode ? ColumnBlock<n, columns>::mode_threads
                                           : most_threads<n>,
                                  one_mode ? Line<n>::least_blocks : 1)
    detector_columns_kernel(Scan scan, Chunk chunk, float2* __restrict__ waves) {
  using L = Line<n>;
  using Block = ColumnBlock<n, columns>;
  extern __shared__ float4 shared[];
  __shared__ double scratch[4 * most_threads<n> / 32];
  auto* const twiddles = reinterpret_cast<float2*>(shared);
  float2* const buffers = twiddles + n;
  const Block block;
  const int pattern = chunk.patterns_packed ? block.j : scan.order[chunk.begin + block.j];
  unsigned raw[L::elements];
  load_counts<n>(scan, static_cast<std::int64_t>(pattern) * n * n + block.x, block.t, raw);
  float2* const wave = waves + image_row(block.j, scan.n_modes, block.mode, n, block.t) + block.x;
  float2 v[L::elements];
#pragma unroll
  for (int s = 0; s < L::elements; ++s) v[s] = wave[L::threads * s * n];
  make_twiddles<n>(twiddles);
  constexpr int mode_buffer = L::buffer * columns;
  float2* const buffer =
      buffers + block.mode * mode_buffer + static_cast<int>(threadIdx.x) % columns;
  transform<n, -1, Lines::columns, columns>(v, block.t, twiddles, buffer);
  float factor[L::elements];
#pragma unroll
  for (int s = 0; s < L::elements; ++s) factor[s] = power(v[s]);
  if constexpr (!one_mode) {
    // The modes meet in the exchange buffers.
    const int thread = static_cast<int>(threadIdx.x) % Block::mode_threads;
    auto* const power_of = reinterpret_cast<float*>(buffers) + thread;
    __syncthreads();
#pragma unroll
    for (int s = 0; s < L::elements; ++s)
      power_of[2 * block.mode * mode_buffer + s * Block::mode_threads] = factor[s];
    __syncthreads();
#pragma unroll
    for (int s = 0; s < L::elements; ++s) factor[s] = 0;
    for (int m = 0; m < scan.n_modes; ++m)
#pragma unroll
      for (int s = 0; s < L::elements; ++s)
        factor[s] += power_of[2 * m * mode_buffer + s * Block::mode_threads];
  }
  float sum[4] = {};
  compare<n>(scan, block.x, block.t, raw, factor, sum);
#pragma unroll
  for (int s = 0; s < L::elements; ++s) v[s] = v[s] * factor[s];
  transform<n, 1, Lines::columns, columns>(v, block.t, twiddles, buffer);
#pragma unroll
  for (int s = 0; s < L::elements; ++s) wave[L::threads * s * n] = v[s];
  if (block.mode > 0)
    for (float& part : sum) part = 0;
  add_sums(sum, scratch, chunk.sums);
}

/// The same for more modes than a block has threads for: they wait in `waves`.
template <int n, int columns>
__global__ void __launch_bounds__(ColumnBlock<n, columns>::mode_threads, Line<n>::least_blocks - 1)
    detector_columns_in_turn_kernel(Scan scan, Chunk chunk, float2* __restrict__ waves) {
  using L = Line<n>;
  using Block = ColumnBlock<n, columns>;
  extern __shared__ float4 shared[];
  __shared__ double scratch[4 * Block::mode_threads / 32];
  auto* const twiddles = reinterpret_cast<float2*>(shared);
  make_twiddles<n>(twiddles);
  const Block block;
  float2* const buffer = twiddles + n + static_cast<int>(threadIdx.x) % columns;
  float factor[L::elements] = {};
  float2 v[L::elements];
  for (int m = 0; m < scan.n_modes; ++m) {
    float2* const wave = waves + image_row(block.j, scan.n_modes, m, n, block.t) + block.x;
#pragma unroll
    for (int s = 0; s < L::elements; ++s) v[s] = wave[L::threads * s * n];
    transform<n, -1, Lines::columns, columns>(v, block.t, twiddles, buffer);
#pragma unroll
    for (int s = 0; s < L::elements; ++s) {
      factor[s] += power(v[s]);
      wave[L::threads * s * n] = v[s];
    }
  }
  const int pattern = chunk.patterns_packed ? block.j : scan.order[chunk.begin + block.j];
  unsigned raw[L::elements];
  load_counts<n>(scan, static_cast<std::int64_t>(pattern) * n * n + block.x, block.t, raw);
  float sum[4] = {};
  compare<n>(scan, block.x, block.t, raw, factor, sum);
  for (int m = 0; m < scan.n_modes; ++m) {
    float2* const wave = waves + image_row(block.j, scan.n_modes, m, n, block.t) + block.x;
#pragma unroll
    for (int s = 0; s < L::elements; ++s) v[s] = wave[L::threads * s * n] * factor[s];
    transform<n, 1, Lines::columns, columns>(v, block.t, twiddles, buffer);
#pragma unroll
    for (int s = 0; s < L::elements; ++s) wave[L::threads * s * n] = v[s];
  }
  add_sums(sum, scratch, chunk.sums);
}

template <int n, int columns>
void launch_columns(void* stream, const Scan& scan, const Chunk& chunk, float2* waves) {
  using Block = ColumnBlock<n, columns>;
  const dim3 grid(chunk.count * Block::groups);
  constexpr int mode_buffer = Line<n>::buffer * columns;
  if (scan.n_modes == 1) {
    if constexpr (columns == columns_of_block<n>)
      launch(detector_columns_kernel<n, columns, true>, grid, Block::mode_threads, n + mode_buffer,
             stream, scan, chunk, waves);
  } else {
    launch(detector_columns_kernel<n, columns, false>, grid, scan.n_modes * Block::mode_threads,
           n + scan.n_modes * mode_buffer, stream, scan, chunk, waves);
  }
}

}  // namespace

void detector_columns(void* stream, const Scan& scan, const Chunk& chunk, Complex* waves) {
  with_size(scan.n, [&](auto size) {
    constexpr int n = size;
    constexpr int columns = columns_of_block<n>;
    // Fewer columns a block for more modes; four make a sector, and a warp must be whole.
    constexpr int half = columns > 4 ? columns / 2 : 4;
    constexpr int least = n == 32 ? 8 : 4;
    constexpr int threads = Line<n>::threads;
    constexpr int comfortable = n >= 512 ? 256 : 384;
    float2* const w = as_float2(waves);
    if (columns * threads * scan.n_modes <= comfortable)
      launch_columns<n, columns>(stream, scan, chunk, w);
    else if (half * threads * scan.n_modes <= comfortable)
      launch_columns<n, half>(stream, scan, chunk, w);
    else if (least * threads * scan.n_modes <= most_threads<n>)
      launch_columns<n, least>(stream, scan, chunk, w);
    else
      launch(detector_columns_in_turn_kernel<n, columns>,
             dim3(chunk.count * ColumnBlock<n, columns>::groups), 128,
             n + Line<n>::buffer * columns, stream, scan, chunk, w);
  });
}

}  // namespace tessera::physics::hot_path

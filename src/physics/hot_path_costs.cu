/// The kernel of the hot path for line searches: what waves along a line cost on the detector.

#include "line_costs_cuda.cuh"

namespace tessera::physics::hot_path {
namespace {

/// A block for `columns` columns of one place; what is ahead and behind waits in shared memory.
template <int n>
struct CostColumns : ColumnBlock<n, columns_of_block<n>> {
  using Base = ColumnBlock<n, columns_of_block<n>>;
  static constexpr int columns = columns_of_block<n>;
  static constexpr int waiting = Line<n>::elements * Base::mode_threads;      ///< float2 of a wave
  static constexpr int shared = n + Line<n>::buffer * columns + 2 * waiting;  ///< float2
  static constexpr int step = Line<n>::threads * n;  ///< from element to element of a thread
  int first = this->t * n + this->x;                 ///< pixel
};

template <int n, Noise noise>
__global__ void __launch_bounds__(CostColumns<n>::mode_threads)
    costs_kernel(ScanArrays scan, ChunkArrays chunk, WavesOnLine line) {
  using L = Line<n>;
  using Block = CostColumns<n>;
  extern __shared__ float4 shared[];
  auto* const twiddles = reinterpret_cast<float2*>(shared);
  const Block block;
  const int thread = static_cast<int>(threadIdx.x);
  float2* const buffer = twiddles + n + thread % Block::columns;
  float2* const ahead = twiddles + n + L::buffer * Block::columns + thread;
  float2* const behind = ahead + Block::waiting;
  unsigned raw[L::elements];
  load_counts(scan, pattern_of(scan, chunk, block.j) + block.first, Block::step, L::elements, raw);
  make_twiddles<n>(twiddles);
  follow_earlier_kernels();
  float quartic[L::elements][n_coefficients] = {};
  for (int m = 0; m < scan.n_modes; ++m) {
    const std::int64_t at = image_row(block.j, scan.n_modes, m, n, 0) + block.first;
    const auto find = [&](const Complex* waves, float2(&v)[L::elements]) {
      const float2* const wave = as_float2(waves) + at;
#pragma unroll
      for (int s = 0; s < L::elements; ++s) v[s] = wave[s * Block::step];
      transform<n, -1, Lines::columns, Block::columns>(v, block.t, twiddles, buffer);
    };
    float2 v[L::elements];
    find(line.ahead, v);
#pragma unroll
    for (int s = 0; s < L::elements; ++s) ahead[s * Block::mode_threads] = v[s];
    find(line.behind, v);
#pragma unroll
    for (int s = 0; s < L::elements; ++s) behind[s * Block::mode_threads] = v[s];
    find(line.here, v);
#pragma unroll
    for (int s = 0; s < L::elements; ++s)
      add_intensity(v[s], ahead[s * Block::mode_threads], behind[s * Block::mode_threads],
                    quartic[s]);
  }
  const LineTimes times(line);
  float sum[WavesOnLine::n_sums] = {};
#pragma unroll
  for (int s = 0; s < L::elements; ++s) {
    const int pixel = block.first + s * Block::step;
    const float count = count_of(scan, raw[s]);
    if (trust_in(scan, pixel, count) == 0) continue;
    const float background = scan.background ? __ldg(scan.background + pixel) : 0.F;
    add_costs_along<noise>(quartic[s], count, background, scan.dark_amplitude, times, sum);
  }
  const double total = sum_over_block(sum);
  if (thread < WavesOnLine::n_sums) atomicAdd(line.sums + thread, total);
}

}  // namespace

void add_costs(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
               const WavesOnLine& line) {
  if (chunk.count == 0) return;
  with_size(scan.n, [&](auto size) {
    using Block = CostColumns<size>;
    with_noise(scan, [&](auto noise) {
      launch(costs_kernel<size, noise>, dim3(chunk.count * Block::groups), Block::mode_threads,
             Block::shared, stream, scan, chunk, line);
    });
  });
}

}  // namespace tessera::physics::hot_path

/// The kernel of the hot path for line searches: what waves along a line cost on the detector.

#include "hot_path_detector.cuh"

namespace tessera::physics::hot_path {
namespace {

constexpr int n_coefficients = 5;

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

/// Adds the intensity of A + t B + t^2 C, by powers of t, from the waves at t = 0, 1 and -1.
__device__ __forceinline__ void add_intensity(float2 here, float2 ahead, float2 behind,
                                              float (&quartic)[n_coefficients]) {
  const float2 plus = ahead - here;
  const float2 minus = behind - here;
  const float2 b = (plus - minus) * 0.5F;
  const float2 c = (plus + minus) * 0.5F;
  quartic[0] += power(here);
  quartic[1] += 2 * (here.x * b.x + here.y * b.y);
  quartic[2] += power(b) + 2 * (here.x * c.x + here.y * c.y);
  quartic[3] += 2 * (b.x * c.x + b.y * c.y);
  quartic[4] += power(c);
}

/// What expected counts cost above those at t = 0; formulas: noise.hpp.
template <Noise noise>
struct CostAbove {
  float measured;
  float at_zero;

  __device__ __forceinline__ float operator()(float expected) const {
    if constexpr (noise == Noise::poisson) {
      // One logarithm: the difference of two would be their rounding.
      constexpr auto dark = static_cast<float>(expected_dark_counts);
      return 0.5F *
             (expected - at_zero - measured * logf(__fdividef(expected + dark, at_zero + dark)));
    } else if constexpr (noise == Noise::intensity) {
      const float further = expected - at_zero;
      return __fdividef(0.25F * further * (further + 2 * (at_zero - measured)), measured + 1);
    } else {
      const float amplitude = fast_sqrt(measured);
      const float there = fast_sqrt(expected) - amplitude;
      const float here = fast_sqrt(at_zero) - amplitude;
      return there * there - here * here;
    }
  }
};

template <int n, Noise noise>
__global__ void __launch_bounds__(CostColumns<n>::mode_threads)
    costs_kernel(ScanArrays scan, ChunkArrays chunk, WavesOnLine line) {
  using L = Line<n>;
  using Block = CostColumns<n>;
  constexpr int n_costs = WavesOnLine::n_costs;
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
  float sum[n_costs] = {};
#pragma unroll
  for (int s = 0; s < L::elements; ++s) {
    const int pixel = block.first + s * Block::step;
    const float count = count_of(scan, raw[s]);
    if (trust_in(scan, pixel, count) == 0) continue;
    const float background = scan.background ? __ldg(scan.background + pixel) : 0.F;
    // Rounding may leave less than no intensity.
    const auto expected = [&](float intensity) { return fmaxf(intensity, 0.F) + background; };
    const CostAbove<noise> cost{count, expected(quartic[s][0])};
#pragma unroll
    for (int k = 0; k < n_costs; ++k) {
      const float t = __ldg(line.times + k);
      float intensity = quartic[s][n_coefficients - 1];
#pragma unroll
      for (int i = n_coefficients - 2; i >= 0; --i) intensity = fmaf(intensity, t, quartic[s][i]);
      sum[k] += cost(expected(intensity));
    }
  }
  const double total = sum_over_block(sum);
  if (thread < n_costs) atomicAdd(line.costs + thread, total);
}

}  // namespace

void add_costs(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
               const WavesOnLine& line) {
  if (chunk.count == 0) return;
  with_size(scan.n, [&](auto size) {
    using Block = CostColumns<size>;
    const auto launch_with = [&](auto kernel) {
      launch(kernel, dim3(chunk.count * Block::groups), Block::mode_threads, Block::shared, stream,
             scan, chunk, line);
    };
    switch (scan.noise) {
      case Noise::amplitude:
        return launch_with(costs_kernel<size, Noise::amplitude>);
      case Noise::intensity:
        return launch_with(costs_kernel<size, Noise::intensity>);
      case Noise::poisson:
        return launch_with(costs_kernel<size, Noise::poisson>);
    }
  });
}

}  // namespace tessera::physics::hot_path

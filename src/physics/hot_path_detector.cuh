#pragma once
/// What the kernels of the hot path that work on columns share: the counts, and the comparison.

#include "hot_path_cuda.cuh"

namespace tessera::physics::hot_path {

/// f(patterns) of the type that they lie in memory as.
template <class F>
__device__ __forceinline__ void with_patterns(const ScanArrays& scan, const F& f) {
  switch (scan.counts) {
    case Counts::u8:
      return f(static_cast<const unsigned char*>(scan.patterns));
    case Counts::u16:
      return f(static_cast<const unsigned short*>(scan.patterns));
    default:
      return f(static_cast<const unsigned*>(scan.patterns));
  }
}

/// The `mine` first of raw = counts at `at`, at + step ..., as they lie in memory, so that nothing
/// waits for them before they are needed.
template <int size>
__device__ __forceinline__ void load_counts(const ScanArrays& scan, std::int64_t at, int step,
                                            int mine, unsigned (&raw)[size]) {
  with_patterns(scan, [&](const auto* patterns) {
#pragma unroll
    for (int s = 0; s < size; ++s)
      if (s < mine) raw[s] = __ldcs(patterns + at + s * step);
  });
}

/// raw[r] = four neighbours at `at` + r step, both multiples of four.
template <int rows>
__device__ __forceinline__ void load_fours(const ScanArrays& scan, std::int64_t at, int step,
                                           unsigned (&raw)[rows][4]) {
  const auto load = [&](const auto* fours) {
    using Four = std::remove_cvref_t<decltype(*fours)>;
    Four loaded[rows];
#pragma unroll
    for (int r = 0; r < rows; ++r) loaded[r] = __ldg(fours + (at + r * step) / 4);
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      raw[r][0] = loaded[r].x;
      raw[r][1] = loaded[r].y;
      raw[r][2] = loaded[r].z;
      raw[r][3] = loaded[r].w;
    }
  };
  switch (scan.counts) {
    case Counts::u8:
      return load(static_cast<const uchar4*>(scan.patterns));
    case Counts::u16:
      return load(static_cast<const ushort4*>(scan.patterns));
    default:
      return load(static_cast<const uint4*>(scan.patterns));
  }
}

__device__ __forceinline__ int bytes_of_count(const ScanArrays& scan) {
  return scan.counts == Counts::u8 ? 1 : scan.counts == Counts::u16 ? 2 : 4;
}

/// First pixel of the pattern of the chunk's place j.
__device__ __forceinline__ std::int64_t pattern_of(const ScanArrays& scan, const ChunkArrays& chunk,
                                                   int j) {
  const std::int64_t pattern = chunk.patterns_packed ? j : scan.order[chunk.begin + j];
  return pattern * scan.n * scan.n;
}

/// Relative error below 2^-22; 0 of 0.
__device__ __forceinline__ float fast_sqrt(float x) {
  float root;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
  return root;
}

/// What `load_counts` left of a pixel.
__device__ __forceinline__ float count_of(const ScanArrays& scan, unsigned raw) {
  return scan.counts == Counts::f32 ? __uint_as_float(raw) : static_cast<float>(raw);
}

/// 1 or 0: whether the pixel `at` of a pattern, with this count, is trusted.
__device__ __forceinline__ float trust_in(const ScanArrays& scan, int at, float count) {
  return count < scan.saturation ? __ldg(scan.valid + at) : 0.F;
}

/// How pixels are compared with their counts: by amplitudes, without a background besides the waves
/// or over one, or by another noise model with or without.
enum class Comparing { amplitudes, amplitudes_over_background, likelihoods };

/// f(comparing), of amplitudes, once for all pixels of a thread: pixels that branch one by one wait
/// for each other.
template <class F>
__device__ __forceinline__ void with_amplitudes(const ScanArrays& scan, const F& f) {
  if (scan.background)
    f(std::integral_constant<Comparing, Comparing::amplitudes_over_background>());
  else
    f(std::integral_constant<Comparing, Comparing::amplitudes>());
}

/// The same of any noise model.
template <class F>
__device__ __forceinline__ void with_noise_model(const ScanArrays& scan, const F& f) {
  if (scan.noise == Noise::amplitude)
    with_amplitudes(scan, f);
  else
    f(std::integral_constant<Comparing, Comparing::likelihoods>());
}

/// What a pixel sums up: FigureSums without the number of pixels. The cost of amplitudes is their
/// squared difference, which is said once.
constexpr int n_compared = 5;

/// IntensityDistance::cost
__device__ __forceinline__ float intensity_cost(float missed, float variance) {
  const float on_parabola = fminf(missed, variance);
  return __fdividef(0.25F * on_parabola * (2 * missed - on_parabola), variance);
}

/// What the count of a pixel says of the expected one by another noise model than amplitudes:
/// noise.hpp, and `PixelModel` of the curvature.
struct Likelihood {
  float slope;  ///< of the cost by what is expected, negative
  float curvature;
  float cost;

  __device__ __forceinline__ Likelihood(Noise noise, float measured, float expected) {
    if (noise == Noise::poisson) {
      const float seen = expected + static_cast<float>(expected_dark_counts);
      curvature = __fdividef(0.5F, seen);
      slope = curvature * (measured - seen);
      cost = 0.5F * (expected - measured * __logf(seen));
    } else if (noise == Noise::stabilised) {
      const float model = fast_sqrt(expected + 0.25F);
      const float counted = 0.5F * (fast_sqrt(measured) + fast_sqrt(measured + 1));
      const float difference = model - counted;
      curvature = __fdividef(1.F, model * (model + counted));
      slope = __fdividef(-difference, model);
      cost = difference * difference;
    } else {
      const float missing = measured - expected;
      const float variance = measured + 1;
      curvature = __fdividef(0.5F, fmaxf(variance, -missing));
      slope = curvature * missing;
      cost = intensity_cost(-missing, variance);
    }
  }
};

/// Intensity of the waves at pixel `at` to the factor that turns them into residuals.
/// @param background_slopes as those of ChunkArrays; formulas: PixelModel, noise.hpp
template <Comparing comparing>
__device__ __forceinline__ float compare(const ScanArrays& scan, int at, unsigned raw,
                                         float intensity, float* background_slopes,
                                         float (&sum)[n_compared]) {
  constexpr bool of_amplitudes = comparing != Comparing::likelihoods;
  constexpr bool may_have_background = comparing != Comparing::amplitudes;
  const float count = count_of(scan, raw);
  const float valid = trust_in(scan, at, count);
  const float measured = valid > 0 ? count : 0.F;
  const float measured_amplitude = fast_sqrt(measured);
  if (may_have_background && (of_amplitudes || scan.background))
    intensity += __ldg(scan.background + at);
  const float model_amplitude = fast_sqrt(intensity);
  const float difference = (model_amplitude - measured_amplitude) * valid;
  sum[0] += difference * difference;
  sum[1] += fabsf(difference);
  sum[2] += measured;
  sum[3] += measured_amplitude;
  float slope;
  float curvature;
  if constexpr (of_amplitudes) {
    const float amplitude = fmaxf(model_amplitude, scan.dark_amplitude);
    slope = __fdividef(-difference, amplitude);
    curvature = __fdividef(valid, amplitude * (model_amplitude + measured_amplitude +
                                               static_cast<float>(least_dark_amplitude)));
  } else {
    const Likelihood likelihood(scan.noise, measured, intensity);
    curvature = valid * likelihood.curvature;
    slope = valid * likelihood.slope;
    sum[4] += valid * likelihood.cost;
  }
  if (may_have_background && background_slopes)
    add_float2(reinterpret_cast<float2*>(background_slopes) + at, make_float2(slope, curvature));
  return slope;
}

/// Of a block of columns whose threads hold one mode of several; the registers hold two such.
constexpr int max_threads = 384;

/// @return in thread i < size the sum of sum[i] over the block's threads
template <int size>
__device__ __forceinline__ double sum_over_block(const float (&sum)[size]) {
  __shared__ double scratch[size * max_threads / 32];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll
  for (int i = 0; i < size; ++i) {
    float total = sum[i];
    for (int step = 16; step > 0; step /= 2) total += __shfl_xor_sync(~0U, total, step);
    if (lane == i) scratch[size * warp + i] = total;
  }
  __syncthreads();
  double total = 0;
  if (threadIdx.x < size)
    for (int w = 0; w < static_cast<int>(blockDim.x) / 32; ++w) total += scratch[size * w + lane];
  return total;
}

/// sums += sum over the block's threads.
__device__ __forceinline__ void add_sums(Noise noise, float (&sum)[n_compared], double* sums) {
  if (noise == Noise::amplitude) sum[4] = sum[0];
  const double total = sum_over_block(sum);
  if (threadIdx.x < n_compared) atomicAdd(sums + threadIdx.x, total);
}

}  // namespace tessera::physics::hot_path

#pragma once
/// How kernels that keep windows on the chip compare a pixel's intensity with its count.

#include "hot_path_detector.cuh"

namespace tessera::physics::hot_path {

/// Counts of two neighbouring pixels, as they lie in memory.
template <class Count>
struct alignas(2 * sizeof(Count)) CountPair {
  Count first;
  Count second;
};

/// Small whole numbers become floats without a conversion, as 2^23 + count.
__device__ __forceinline__ float count_of(const ScanArrays&, CountPair<std::uint8_t> pair,
                                          int which) {
  const unsigned both = pair.first | static_cast<unsigned>(pair.second) << 8;
  return __uint_as_float(__byte_perm(both, 0x4B000000U, which == 0 ? 0x7640 : 0x7641)) - 8388608.F;
}
__device__ __forceinline__ float count_of(const ScanArrays&, CountPair<std::uint16_t> pair,
                                          int which) {
  const unsigned both = pair.first | static_cast<unsigned>(pair.second) << 16;
  return __uint_as_float(__byte_perm(both, 0x4B000000U, which == 0 ? 0x7610 : 0x7632)) - 8388608.F;
}
__device__ __forceinline__ float count_of(const ScanArrays& scan, CountPair<std::uint32_t> pair,
                                          int which) {
  return count_of(scan, which == 0 ? pair.first : pair.second);
}

/// 1 / sqrt(x), relative error below 2^-22.
__device__ __forceinline__ float fast_rsqrt(float x) {
  float root;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
  return root;
}

/// x or 0. @param keep all bits or none
__device__ __forceinline__ float masked(float x, unsigned keep) {
  return __uint_as_float(__float_as_uint(x) & keep);
}

/// @return in lane i and those i + 4, i + 8 ... the sum of v[i < 4] over the warp
template <int size>
__device__ __forceinline__ float sums_over_warp(const float (&v)[size]) {
  const auto lane = threadIdx.x;
  const bool odd = lane & 1U;
  const float first = (odd ? v[1] : v[0]) + __shfl_xor_sync(~0U, odd ? v[0] : v[1], 1);
  const float second = (odd ? v[3] : v[2]) + __shfl_xor_sync(~0U, odd ? v[2] : v[3], 1);
  const bool upper = lane & 2U;
  float total = (upper ? second : first) + __shfl_xor_sync(~0U, upper ? first : second, 2);
  for (int step = 4; step < 32; step *= 2) total += __shfl_xor_sync(~0U, total, step);
  return total;
}

/// What `count` and an intensity of unnormalised waves, n^2 times what it is, make of each other.
template <int n>
struct Comparison {
  float measured_amplitude;
  float inverse;  ///< 1 / (n^2 model amplitude)
  float difference;

  template <int size>
  __device__ __forceinline__ Comparison(float measured, float intensity, float (&sum)[size])
      : measured_amplitude(fast_sqrt(measured)),
        inverse(fast_rsqrt(fmaf(intensity, n * n, 1e-30F))),
        difference(fmaf(intensity, inverse, -measured_amplitude)) {
    sum[0] = fmaf(difference, difference, sum[0]);
    sum[1] += fabsf(difference);
    sum[2] += measured;
    sum[3] += measured_amplitude;
  }
  /// (sqrt(measured) / sqrt(model) - 1) / n^2, so that waves come back as they are.
  __device__ __forceinline__ float factor() const { return -difference * inverse; }
  /// The factor then divides by no less. @param dark_amplitude of ModelOptions
  __device__ __forceinline__ void divide_by_no_less(float dark_amplitude) {
    inverse = fminf(inverse, __fdividef(1.F / (n * n), dark_amplitude));
  }
  /// As `Compare` has it of amplitudes.
  __device__ __forceinline__ float curvature() const {
    return __fdividef(n * n * inverse, fmaf(2.F, measured_amplitude, difference) +
                                           static_cast<float>(least_dark_amplitude));
  }
};

/// The same of another noise model. @param sum n_compared numbers
template <int n>
struct LikelihoodComparison {
  Likelihood likelihood;

  __device__ __forceinline__ LikelihoodComparison(Noise noise, float measured, float intensity,
                                                  float (&sum)[n_compared])
      : likelihood(noise, measured, intensity / (n * n)) {
    const float measured_amplitude = fast_sqrt(measured);
    const float difference = fast_sqrt(intensity / (n * n)) - measured_amplitude;
    sum[0] = fmaf(difference, difference, sum[0]);
    sum[1] += fabsf(difference);
    sum[2] += measured;
    sum[3] += measured_amplitude;
    sum[4] += likelihood.cost;
  }
  __device__ __forceinline__ float factor() const { return likelihood.slope / (n * n); }
  __device__ __forceinline__ float curvature() const { return likelihood.curvature; }
};

/// What the thread's pixels of a half count besides waves, and what they say of it.
struct BackgroundOfPixels {
  const float* counts;
  float2* slopes;  ///< null: not wanted; by numbers of the chip, so that a warp adds to whole lines

  BackgroundOfPixels() = default;
  __device__ __forceinline__ BackgroundOfPixels(const ScanArrays& scan, const ChunkArrays& chunk,
                                                int first_pixel, int first_number) {
    // Known here and nowhere else: registers are few in the loop around.
    asm volatile("" : "+r"(first_pixel), "+r"(first_number));
    counts = scan.background + first_pixel;
    slopes = chunk.background_slopes
                 ? reinterpret_cast<float2*>(chunk.background_slopes_on_chip) + first_number
                 : nullptr;
  }
};

}  // namespace tessera::physics::hot_path

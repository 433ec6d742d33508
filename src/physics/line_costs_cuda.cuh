#pragma once
/// What a pixel of the detector costs along a line, from its waves at three points.

#include "hot_path_detector.cuh"

namespace tessera::physics::hot_path {

constexpr int n_coefficients = 5;

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

  /// By the expected counts, at t = 0. @param dark_amplitude as that of noise.hpp
  __device__ __forceinline__ float slope(float dark_amplitude) const {
    if constexpr (noise == Noise::amplitude) {
      const float amplitude = fast_sqrt(at_zero);
      return __fdividef(amplitude - fast_sqrt(measured), fmaxf(amplitude, dark_amplitude));
    } else {
      return -Likelihood(noise, measured, at_zero).slope;
    }
  }

  __device__ __forceinline__ float operator()(float expected) const {
    if constexpr (noise == Noise::poisson) {
      // One logarithm: the difference of two would be their rounding.
      constexpr auto dark = static_cast<float>(expected_dark_counts);
      return 0.5F *
             (expected - at_zero - measured * logf(__fdividef(expected + dark, at_zero + dark)));
    } else if constexpr (noise == Noise::intensity) {
      return intensity_cost(expected - measured, measured + 1) -
             intensity_cost(at_zero - measured, measured + 1);
    } else {
      const float amplitude = fast_sqrt(measured);
      const float there = fast_sqrt(expected) - amplitude;
      const float here = fast_sqrt(at_zero) - amplitude;
      return there * there - here * here;
    }
  }
};

/// WavesOnLine::times, read once.
struct LineTimes {
  float t[WavesOnLine::n_costs];

  LineTimes() = default;
  __device__ __forceinline__ explicit LineTimes(const WavesOnLine& line) {
#pragma unroll
    for (int k = 0; k < WavesOnLine::n_costs; ++k) t[k] = __ldg(line.times + k);
  }
};

/// Adds WavesOnLine::sums of an intensity that is quartic in t.
template <Noise noise>
__device__ __forceinline__ void add_costs_along(const float (&quartic)[n_coefficients], float count,
                                                float background, float dark_amplitude,
                                                const LineTimes& times,
                                                float (&sum)[WavesOnLine::n_sums]) {
  // Rounding may leave less than no intensity.
  const auto expected = [&](float intensity) { return fmaxf(intensity, 0.F) + background; };
  const CostAbove<noise> cost{count, expected(quartic[0])};
#pragma unroll
  for (int k = 0; k < WavesOnLine::n_costs; ++k) {
    const float t = times.t[k];
    float intensity = quartic[n_coefficients - 1];
#pragma unroll
    for (int i = n_coefficients - 2; i >= 0; --i) intensity = fmaf(intensity, t, quartic[i]);
    sum[k] += cost(expected(intensity));
  }
  sum[WavesOnLine::n_costs] += cost.slope(dark_amplitude) * quartic[1];
}

/// f(noise) of a scan.
template <class F>
void with_noise(const ScanArrays& scan, const F& f) {
  switch (scan.noise) {
    case Noise::amplitude:
      return f(std::integral_constant<Noise, Noise::amplitude>());
    case Noise::intensity:
      return f(std::integral_constant<Noise, Noise::intensity>());
    case Noise::poisson:
      return f(std::integral_constant<Noise, Noise::poisson>());
    case Noise::stabilised:
      return;  // of projections alone, which go along no line
  }
}

}  // namespace tessera::physics::hot_path

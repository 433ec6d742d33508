#pragma once
/// What the detector does to every pixel. Plain functors: any Kokkos device runs them.

#include "device/sums.hpp"
#include "physics/figures.hpp"
#include "physics/inner_product.hpp"
#include "physics/pixel_model.hpp"
#include "trusted_row.hpp"

namespace tessera::physics {

/// What a pixel adds to FigureSums. @param trusted 1, or 0 where `measured` is
KOKKOS_FUNCTION inline void add_figures(Real* sum, const Real expected, const Real measured,
                                        const Real cost, const Real trusted) {
  const Real amplitude = device::math::sqrt(measured);
  const Real difference = (device::math::sqrt(expected) - amplitude) * trusted;
  sum[FigureSums::squared_difference] += difference * difference;
  sum[FigureSums::absolute_difference] += device::math::fabs(difference);
  sum[FigureSums::intensity] += measured;
  sum[FigureSums::amplitude] += amplitude;
  sum[FigureSums::cost] += trusted * cost;
  sum[FigureSums::n_pixels] += trusted;
}

/// wave *= factor. Both parts are read before one is written: else vectors hold one of them.
KOKKOS_FUNCTION inline void multiply(complex& wave, const Real factor) {
  wave = complex(wave.real() * factor, wave.imag() * factor);
}

/// A row of the waves of a position.
struct WaveRow {
  complex* wave;
  std::int64_t stride;
  int n_waves;

  /// light[i] = sum of |waves|^2 at first + i, for i < n.
  KOKKOS_FUNCTION void find_light(const int first, const int n, Real* light) const {
    const complex* const here = wave + first;  // wave[first + i] is not vectorised everywhere
    TESSERA_INDEPENDENT_ITERATIONS
    for (int i = 0; i < n; ++i) light[i] = squared_magnitude(here[i]);
    for (int k = 1; k < n_waves; ++k) {
      const complex* const next = here + k * stride;
      TESSERA_INDEPENDENT_ITERATIONS
      for (int i = 0; i < n; ++i) light[i] += squared_magnitude(next[i]);
    }
  }
  /// waves at first + i *= factor[i]
  KOKKOS_FUNCTION void scale(const int first, const int n, const Real* factor) const {
    for (int k = 0; k < n_waves; ++k) {
      complex* const here = wave + k * stride + first;
      TESSERA_INDEPENDENT_ITERATIONS
      for (int i = 0; i < n; ++i) multiply(here[i], factor[i]);
    }
  }
};

KOKKOS_FUNCTION inline WaveRow wave_row(const WavesView& waves, const int j, const int y) {
  return {&waves(j, 0, y, 0), static_cast<std::int64_t>(waves.extent(2) * waves.extent(3)),
          static_cast<int>(waves.extent(1))};
}

/// Compares with the counts; with `replace` turns waves into residuals. With a point spread
/// `images` hold the spread intensity, which becomes the slope; the waves are left to ScaleWaves
/// then. Of some pixels of a row step by step: a loop over waves within one over pixels is not
/// vectorised.
/// @tparam Pixels PixelModel
template <bool replace, class Pixels>
struct Compare {
  TrustedPatterns patterns;
  Pixels pixels;
  DeviceView<Real***> images;            ///< empty: no point spread
  DeviceView<Real***> background_slope;  ///< empty: it is not fitted
  DeviceView<Real***> background_curvature;
  WavesView waves;

  struct Row {
    TrustedRow pattern;
    typename Pixels::Row pixels;
    Real* spread;
    Real* slopes;
    Real* curvatures;
    WaveRow waves;

    /// Of `n` pixels.
    KOKKOS_FUNCTION void find_light(const int first, const int n, Real* light) const {
      if (!spread) return waves.find_light(first, n, light);
      // At 0 slopes have no bound, and here they reach the neighbours' waves.
      for (int i = 0; i < n; ++i) {
        const Real here = spread[first + i];
        light[i] = here > dark_counts ? here : dark_counts;
      }
    }
    KOKKOS_FUNCTION void find_background_slopes(const int first, const int n,
                                                const TrustedCounts& counted,
                                                const Real* light) const {
      TESSERA_INDEPENDENT_ITERATIONS
      for (int i = 0; i < n; ++i) {
        const int x = first + i;
        const auto pixel = pixels.pixel(x, light[i]);
        slopes[x] = -counted.trusted[i] * pixel.slope(counted.measured[i]);
        curvatures[x] = counted.trusted[i] * pixel.curvature(counted.measured[i]);
      }
    }
    KOKKOS_FUNCTION void operator()(const int first, const int last, Real* sum) const {
      const int n = device::count_pixels(first, last);
      const TrustedCounts counted = pattern.read(first, n);
      Real terms[FigureSums::n_sums] = {};
      const auto factor = [&](const int i, const Real light) {
        const auto pixel = pixels.pixel(first + i, light);
        const Real measured = counted.measured[i];
        const Real trusted = counted.trusted[i];
        const Real cost = replace ? pixel.cost(measured) : pixel.excess_cost(measured);
        add_figures(terms, pixel.counts, measured, cost, trusted);
        return replace ? -trusted * pixel.slope(measured) : Real(0);
      };
      if (replace && waves.n_waves == 1 && !spread && !slopes) {  // at once: 3 % of an epoch
        complex* const wave = waves.wave + first;
        TESSERA_INDEPENDENT_ITERATIONS
        for (int i = 0; i < n; ++i) multiply(wave[i], factor(i, squared_magnitude(wave[i])));
      } else {
        Real light[device::pixels_at_a_time];
        find_light(first, n, light);
        if (replace && slopes) find_background_slopes(first, n, counted, light);
        TESSERA_INDEPENDENT_ITERATIONS
        for (int i = 0; i < n; ++i) light[i] = factor(i, light[i]);
        if (replace) replace_by(first, n, light);
      }
      for (int k = 0; k < FigureSums::n_sums; ++k) sum[k] += terms[k];
    }
    /// The waves, or the spread intensity by slopes.
    KOKKOS_FUNCTION void replace_by(const int first, const int n, const Real* factor) const {
      if (!spread) return waves.scale(first, n, factor);
      for (int i = 0; i < n; ++i) spread[first + i] = -factor[i];
    }
  };
  KOKKOS_FUNCTION Row row(const int j, const int y) const {
    const bool is_fitted = replace && background_slope.size() > 0;
    return {patterns.row(j, y),
            pixels.row(y),
            images.size() > 0 ? &images(j, y, 0) : nullptr,
            is_fitted ? &background_slope(j, y, 0) : nullptr,
            is_fitted ? &background_curvature(j, y, 0) : nullptr,
            wave_row(waves, j, y)};
  }
};

/// Counts, -1 where they are not trusted, and expected counts of position j.
template <class Comparison>
struct ShowPattern {
  Comparison comparison;
  DeviceView<Real***> images;
  int j;
  KOKKOS_FUNCTION void operator()(const int, const int y, const int x) const {
    const auto row = comparison.row(j, y);
    const TrustedCounts counted = row.pattern.read(x, 1);
    images(0, y, x) = counted.trusted[0] > 0 ? counted.measured[0] : Real(-1);
    Real light = 0;
    row.find_light(x, 1, &light);
    images(1, y, x) = row.pixels.pixel(x, light).counts;
  }
};

/// Image j = sum of |waves|^2 of position j.
struct SumIntensity {
  WavesView waves;
  DeviceView<Real***> images;
  KOKKOS_FUNCTION void operator()(const int j, const int y, const int x) const {
    Real sum = 0;
    for (int i = 0; i < static_cast<int>(waves.extent(1)); ++i)
      sum += squared_magnitude(waves(j, i, y, x));
    images(j, y, x) = sum;
  }
};

struct ScaleWaves {
  WavesView waves;
  DeviceView<Real***> slope;
  KOKKOS_FUNCTION void operator()(const int j, const int y, const int x) const {
    for (int i = 0; i < static_cast<int>(waves.extent(1)); ++i)
      waves(j, i, y, x) *= -slope(j, y, x);
  }
};

/// Adds all positions' slopes and curvatures by the background.
struct AddBackgroundSlopes {
  DeviceView<Real***> slope;  ///< by position of the chunk
  DeviceView<Real***> curvature;
  DeviceView<Real** [2]> slopes;
  int n_positions;
  struct Row {
    const Real* term;
    KOKKOS_FUNCTION Real operator()(const int x) const { return term[x]; }
  };
  struct Sums {
    Real* first;
    KOKKOS_FUNCTION Real& operator[](const int x) const { return first[2 * x]; }
  };
  KOKKOS_FUNCTION device::TermRange terms(int) const { return {0, n_positions}; }
  KOKKOS_FUNCTION Row row(const int j, const int i, const int y) const {
    return {i == 0 ? &slope(j, y, 0) : &curvature(j, y, 0)};
  }
  KOKKOS_FUNCTION Sums sums(const int i, const int y) const { return {&slopes(y, 0, i)}; }
};

}  // namespace tessera::physics

#pragma once
/// What the detector does to every pixel. Plain functors: any Kokkos device runs them.

#include "device/sums.hpp"
#include "physics/figures.hpp"
#include "physics/inner_product.hpp"
#include "physics/pixel_model.hpp"
#include "trusted_row.hpp"

namespace tessera::physics {

/// What a pixel adds to FigureSums.
/// @param difference of amplitudes, 0 where the pixel is not trusted
/// @param trusted 1, or 0
KOKKOS_FUNCTION inline void add_figures(Real* sum, const Real difference, const Real intensity,
                                        const Real amplitude, const Real cost, const Real trusted) {
  sum[FigureSums::squared_difference] += difference * difference;
  sum[FigureSums::absolute_difference] += device::math::fabs(difference);
  sum[FigureSums::intensity] += intensity;
  sum[FigureSums::amplitude] += amplitude;
  sum[FigureSums::cost] += cost;
  sum[FigureSums::n_pixels] += trusted;
}

/// The plain model: compares |waves| with the measured amplitudes; with `replace` turns the waves
/// into residuals.
template <bool replace, int known_modes, class PatternView>
struct CompareAmplitudes {
  MeasuredPatterns<PatternView> measured;
  WavesView waves;
  int n_modes;
  Real dark_amplitude;

  struct Row {
    const typename PatternView::value_type* counts;
    const Real* valid;
    complex* wave;
    std::int64_t mode_stride;
    int n_modes;
    Real dark_amplitude;
    KOKKOS_FUNCTION void operator()(const int x, Real* sum) const {
      const int n = known_modes > 0 ? known_modes : n_modes;
      Real model_intensity = 0;
      for (int m = 0; m < n; ++m) model_intensity += squared_magnitude(wave[m * mode_stride + x]);
      const Real measured = static_cast<Real>(counts[x]) * valid[x];
      const Real measured_amplitude = device::math::sqrt(measured);
      const Real model_amplitude = device::math::sqrt(model_intensity);
      const Real difference = (model_amplitude - measured_amplitude) * valid[x];
      add_figures(sum, difference, measured, measured_amplitude, difference * difference, valid[x]);
      if constexpr (replace) {
        const Real factor = -difference / no_darker(model_amplitude, dark_amplitude);
        for (int m = 0; m < n; ++m) {
          complex& part = wave[m * mode_stride + x];
          part = complex(part.real() * factor, part.imag() * factor);  // both read, then written
        }
      }
    }
  };
  KOKKOS_FUNCTION Row row(const int j, const int y) const {
    return {measured.counts(j, y),
            measured.mask(y),
            &waves(j, 0, y, 0),
            static_cast<std::int64_t>(waves.extent(2) * waves.extent(3)),
            n_modes,
            dark_amplitude};
  }
};

/// Any model. With a point spread `images` hold the spread intensity, which becomes the slope; the
/// waves are left to ScaleWaves then.
template <bool replace, class PatternView>
struct Compare {
  TrustedPatterns<PatternView> patterns;
  PixelModel<> pixels;
  DeviceView<Real***> images;            ///< empty: no point spread
  DeviceView<Real***> background_slope;  ///< empty: it is not fitted
  DeviceView<Real***> background_curvature;
  WavesView waves;

  struct Row {
    TrustedRow<typename PatternView::value_type> pattern;
    PixelModel<>::Row pixels;
    Real* spread;
    Real* slopes;
    Real* curvatures;
    complex* wave;
    std::int64_t wave_stride;
    int n_waves;

    KOKKOS_FUNCTION Real light(const int x) const {
      // At 0 slopes have no bound, and here they reach the neighbours' waves.
      if (spread) return spread[x] > dark_counts ? spread[x] : dark_counts;
      Real sum = 0;
      for (int i = 0; i < n_waves; ++i) sum += squared_magnitude(wave[i * wave_stride + x]);
      return sum;
    }
    KOKKOS_FUNCTION void operator()(const int x, Real* sum) const {
      const Real trusted = pattern.trust(x);
      const auto pixel = pixels.pixel(x, light(x));
      const Real measured = trusted > 0 ? static_cast<Real>(pattern.counts[x]) : Real(0);
      const Real amplitude = device::math::sqrt(measured);
      const Real difference = (device::math::sqrt(pixel.counts) - amplitude) * trusted;
      const Real cost = replace ? pixel.cost(measured) : pixel.excess_cost(measured);
      add_figures(sum, difference, measured, amplitude, trusted * cost, trusted);
      if constexpr (replace) {
        const Real slope = trusted * pixel.slope(measured);
        if (slopes) {
          slopes[x] = -slope;
          curvatures[x] = trusted * pixel.curvature(measured);
        }
        if (spread) {
          spread[x] = slope;
        } else {
          for (int i = 0; i < n_waves; ++i) wave[i * wave_stride + x] *= -slope;
        }
      }
    }
  };
  KOKKOS_FUNCTION Row row(const int j, const int y) const {
    const bool is_fitted = replace && background_slope.size() > 0;
    return {patterns.row(j, y),
            pixels.row(y),
            images.size() > 0 ? &images(j, y, 0) : nullptr,
            is_fitted ? &background_slope(j, y, 0) : nullptr,
            is_fitted ? &background_curvature(j, y, 0) : nullptr,
            &waves(j, 0, y, 0),
            static_cast<std::int64_t>(waves.extent(2) * waves.extent(3)),
            static_cast<int>(waves.extent(1))};
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
    images(0, y, x) =
        row.pattern.trust(x) > 0 ? static_cast<Real>(row.pattern.counts[x]) : Real(-1);
    images(1, y, x) = row.pixels.pixel(x, row.light(x)).counts;
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

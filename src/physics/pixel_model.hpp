#pragma once
/// What a pixel of the detector expects to count, and what that costs: said once for all kernels
/// that compare with counts.

#include <type_traits>

#include "tessera/device/device.hpp"
#include "tessera/physics/model_options.hpp"
#include "tessera/physics/sizes.hpp"

namespace tessera::physics {

using device::DeviceView;

/// The fused kernels say it once more: `compare` and `Likelihood` in hot_path_detector.cuh,
/// `Comparison` in window_comparison_cuda.cuh, CostAbove in line_costs_cuda.cuh.
///
/// Light is what the waves bring to a pixel, |wave|^2 summed over them, convolved with the point
/// spread.
/// @tparam NoiseModel Noise, or a constant of it where a loop shall be vectorised
template <class NoiseModel = Noise>
struct PixelModel {
  DeviceView<Real**> background;  ///< (h, w)
  NoiseModel noise;
  Real dark_amplitude;

  struct Pixel {
    Real counts;  ///< expected
    NoiseModel noise;
    Real dark_amplitude;

    KOKKOS_FUNCTION Real cost(const Real measured) const {
      return physics::cost(noise, counts, measured);
    }
    /// Above that of a pixel that expects what was counted.
    KOKKOS_FUNCTION Real excess_cost(const Real measured) const {
      return physics::excess_cost(noise, counts, measured);
    }
    /// Of the cost, by the light and by the background.
    KOKKOS_FUNCTION Real slope(const Real measured) const {
      return physics::slope(noise, counts, measured, dark_amplitude);
    }
    /// dL/dI over I - N, the curvature between the expected counts I and the measured ones N: a
    /// step of slope / curvature goes as far as the count, and one of their sums to a mean of
    /// counts. Where the model is dark the second derivative would send it orders of magnitude too
    /// far.
    KOKKOS_FUNCTION Real curvature(const Real measured) const {
      if (noise == Noise::intensity) return IntensityDistance(counts, measured).curvature();
      if (noise == Noise::poisson) return Real(0.5) / (counts + dark_counts);
      if (noise == Noise::stabilised) {
        const Real model = stabilised_model(counts);
        return 1 / (model * (model + stabilised_count(measured)));
      }
      const Real amplitude = device::math::sqrt(counts);
      const Real both = amplitude + device::math::sqrt(measured) + Real(least_dark_amplitude);
      return 1 / (no_darker(amplitude, dark_amplitude) * both);
    }
  };
  struct Row {
    const Real* background;
    NoiseModel noise;
    Real dark_amplitude;
    KOKKOS_FUNCTION Pixel pixel(const int x, const Real light) const {
      return {background[x] + light, noise, dark_amplitude};
    }
  };
  KOKKOS_FUNCTION Row row(const int y) const { return {&background(y, 0), noise, dark_amplitude}; }

  /// f(this model, its noise a constant)
  template <class F>
  void with_constant_noise(const F& f) const {
    switch (noise) {
      case Noise::intensity:
        return f(with_constant<Noise::intensity>());
      case Noise::poisson:
        return f(with_constant<Noise::poisson>());
      case Noise::stabilised:
        return f(with_constant<Noise::stabilised>());
      default:
        return f(with_constant<Noise::amplitude>());
    }
  }

 private:
  template <Noise value>
  auto with_constant() const {
    return PixelModel<std::integral_constant<Noise, value>>{background, {}, dark_amplitude};
  }
};

/// @param background (h, w), 0 where there is none
inline PixelModel<> pixel_model(const ModelOptions& options, const DeviceView<Real**>& background) {
  return {background, options.noise, static_cast<Real>(options.dark_amplitude)};
}

}  // namespace tessera::physics

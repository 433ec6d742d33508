#pragma once
/// What a pixel that counts `measured` costs a model that expects `intensity` there.

#include "tessera/device/device.hpp"
#include "tessera/device/logarithm.hpp"
#include "tessera/physics/noise_model.hpp"

namespace tessera::physics {

/// Counts that the Poisson model always expects: a dark pixel that counted one photon costs much,
/// but neither infinity nor a gradient without bound.
inline constexpr Real dark_counts = Real(expected_dark_counts);

/// What `Noise::stabilised` compares, of what is expected and of what was counted.
KOKKOS_INLINE_FUNCTION Real stabilised_model(const Real intensity) {
  return device::math::sqrt(intensity + Real(0.25));
}
KOKKOS_INLINE_FUNCTION Real stabilised_count(const Real measured) {
  return (device::math::sqrt(measured) + device::math::sqrt(measured + 1)) / 2;
}

/// What `Noise::intensity` knows of a pixel. Where more than twice the counts and one are expected
/// its parabola goes on as a straight line (Huber 1964, Ann. Math. Statist. 35, 73) of slope 1/2,
/// to which Poisson's rises, too: of a poor start it would send bright pixels orders of magnitude
/// too far.
struct IntensityDistance {
  Real missed;    ///< expected less measured
  Real variance;  ///< of the count, as the count tells it

  KOKKOS_FUNCTION IntensityDistance(const Real intensity, const Real measured)
      : missed(intensity - measured), variance(measured + 1) {}
  KOKKOS_FUNCTION Real on_parabola() const { return missed < variance ? missed : variance; }
  KOKKOS_FUNCTION Real cost() const {
    return on_parabola() * (2 * missed - on_parabola()) / (4 * variance);
  }
  KOKKOS_FUNCTION Real slope() const { return on_parabola() / (2 * variance); }
  /// slope / missed
  KOKKOS_FUNCTION Real curvature() const {
    return Real(0.5) / (missed < variance ? variance : missed);
  }
};

KOKKOS_INLINE_FUNCTION Real cost(const Noise noise, const Real intensity, const Real measured) {
  switch (noise) {
    case Noise::stabilised: {
      const Real difference = stabilised_model(intensity) - stabilised_count(measured);
      return difference * difference;
    }
    case Noise::intensity:
      return IntensityDistance(intensity, measured).cost();
    case Noise::poisson:
      return (intensity - measured * device::logarithm(intensity + dark_counts)) / 2;
    default: {
      const Real difference = device::math::sqrt(intensity) - device::math::sqrt(measured);
      return difference * difference;
    }
  }
}

/// How much more that costs than to expect what was counted: 0 at the least. Of the Poisson model a
/// quarter of the deviance, like the square of the amplitudes' difference where counts are many.
KOKKOS_INLINE_FUNCTION Real excess_cost(const Noise noise, const Real intensity,
                                        const Real measured) {
  if (noise != Noise::poisson) return cost(noise, intensity, measured);
  // One logarithm: the difference of two costs would be their rounding.
  return (intensity - measured -
          measured * device::logarithm((intensity + dark_counts) / (measured + dark_counts))) /
         2;
}

/// What the amplitude model divides by. As a choice, which processors vectorise.
/// @param dark_amplitude of ModelOptions
KOKKOS_INLINE_FUNCTION Real no_darker(const Real amplitude, const Real dark_amplitude) {
  return amplitude < dark_amplitude ? dark_amplitude : amplitude;
}

/// dL/dI: the negative gradient of the cost by the detector wave is -slope wave.
/// @param dark_amplitude as that of no_darker
KOKKOS_INLINE_FUNCTION Real slope(const Noise noise, const Real intensity, const Real measured,
                                  const Real dark_amplitude) {
  switch (noise) {
    case Noise::stabilised:
      return 1 - stabilised_count(measured) / stabilised_model(intensity);
    case Noise::intensity:
      return IntensityDistance(intensity, measured).slope();
    case Noise::poisson:
      return (1 - measured / (intensity + dark_counts)) / 2;
    default: {
      const Real amplitude = device::math::sqrt(intensity);
      return (amplitude - device::math::sqrt(measured)) / no_darker(amplitude, dark_amplitude);
    }
  }
}

}  // namespace tessera::physics

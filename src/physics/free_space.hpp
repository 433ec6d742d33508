#pragma once
/// Plane waves through free space (Goodman, Introduction to Fourier Optics, sec. 3.10), in double:
/// the phase of a long way is many turns.

#include "chunk_kernels.hpp"

namespace tessera::physics {

/// Cycles per metre of frequency bin k of n.
KOKKOS_INLINE_FUNCTION double spatial_frequency(const int k, const int n, const double pixel_m) {
  return signed_bin(k, n) / (n * pixel_m);
}

/// Waves of lateral frequency sqrt(k2) decay instead of propagating.
KOKKOS_INLINE_FUNCTION bool is_evanescent(const double k2, const double wavelength_m) {
  return k2 * wavelength_m * wavelength_m >= 1;
}

/// What a lateral frequency sqrt(k2) takes from the cycles per metre of distance:
/// sqrt(1/lambda^2 - k2) - 1/lambda, written so that nothing cancels; 0 where it is evanescent.
KOKKOS_INLINE_FUNCTION double axial_frequency(const double k2, const double wavelength_m) {
  if (is_evanescent(k2, wavelength_m)) return 0;
  const double inverse = 1 / wavelength_m;
  return -k2 / (device::math::sqrt(inverse * inverse - k2) + inverse);
}

}  // namespace tessera::physics

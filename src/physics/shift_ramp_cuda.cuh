#pragma once
/// The Fourier factor of a sub-pixel shift.

namespace tessera::physics::hot_path {

/// exp(-2 pi i k s / n) for the signed frequency of bin k, as `shift_factor`; absolute error below
/// 2^-21 while |s| < 1.
template <int n>
__device__ __forceinline__ float2 shift_ramp(int k, float shift) {
  const int signed_k = k < n / 2 ? k : k - n;
  float2 factor;
  constexpr float angle = -6.2831853071795865F / n;
  __sincosf(angle * static_cast<float>(signed_k) * shift, &factor.y, &factor.x);
  return factor;
}

/// The same for shifts of any length.
template <int n>
__device__ __forceinline__ float2 far_shift_ramp(int k, float shift) {
  const int signed_k = k < n / 2 ? k : k - n;
  float2 factor;
  sincospif(-2.F / n * static_cast<float>(signed_k) * shift, &factor.y, &factor.x);
  return factor;
}

}  // namespace tessera::physics::hot_path

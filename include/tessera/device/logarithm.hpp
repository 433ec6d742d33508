#pragma once
/// A logarithm that processors take of several numbers at a time.

#include <bit>
#include <cstdint>
#include <limits>
#include <numbers>
#include <type_traits>

#include "tessera/device/device.hpp"

namespace tessera::device {

/// Natural logarithm of a positive number that is neither infinite nor denormal, to 2 units in the
/// last place: of 2^e m with m in [2/3, 4/3), where log m = 2 artanh((m - 1) / (m + 1)), by its
/// series (Abramowitz & Stegun 1964, 4.1.27). A processor calls the library's for one number after
/// another, and vectorises this.
KOKKOS_INLINE_FUNCTION Real logarithm(const Real x) {
  if constexpr (!device_is_host) {
    return math::log(x);
  } else {
    using Bits = std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t>;
    constexpr int mantissa_bits = std::numeric_limits<Real>::digits - 1;
    constexpr int n_terms = sizeof(Real) == 4 ? 5 : 11;
    constexpr auto least = std::bit_cast<Bits>(Real(2) / 3);
    const Bits above = std::bit_cast<Bits>(x) - least;
    const Bits exponent = above >> mantissa_bits;
    const Real m = std::bit_cast<Real>((above & ((Bits{1} << mantissa_bits) - 1)) + least);
    const Real s = (m - 1) / (m + 1);
    Real series = 0;
    for (int k = n_terms - 1; k >= 0; --k) series = series * (s * s) + Real(2) / Real(2 * k + 1);
    return static_cast<Real>(exponent) * std::numbers::ln2_v<Real> + s * series;
  }
}

}  // namespace tessera::device

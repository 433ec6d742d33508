#pragma once
/// Noise whose spectrum is known.

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <random>

#include "tessera/optics/host_fft.hpp"

#include "optics/fourier_tools.hpp"

namespace tessera::testing {

/// Complex white noise times `gain` of the spatial frequency in units of Nyquist.
template <class Gain>
WaveStack filtered_noise(Shape2 shape, unsigned seed, const Gain& gain) {
  WaveStack waves(1, shape);
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  for (auto& value : waves) value = std::complex<double>(normal(random), normal(random));
  optics::forward_2d(waves);
  for (int y = 0; y < shape.h; ++y)
    for (int x = 0; x < shape.w; ++x)
      waves(0, y, x) *=
          gain(2 * std::hypot(optics::frequency(y, shape.h), optics::frequency(x, shape.w)));
  optics::inverse_2d(waves);
  return waves;
}

inline WaveStack sum(WaveStack a, const WaveStack& b) {
  std::transform(a.begin(), a.end(), b.begin(), a.begin(), std::plus<>());
  return a;
}

}  // namespace tessera::testing

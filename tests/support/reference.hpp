#pragma once
/// Plain double-precision loops: the truth that kernels are tested against. Slow, short, no FFT.

#include <cmath>
#include <complex>
#include <vector>

#include "tessera/base/image_stack.hpp"

namespace tessera::testing {

using Complex = std::complex<double>;

inline double norm(const WaveStack& a) {
  double sum = 0;
  for (const Complex& value : a) sum += std::norm(value);
  return std::sqrt(sum);
}

/// ||a - b|| / ||b||
inline double relative_difference(const WaveStack& a, const WaveStack& b) {
  WaveStack difference = a;
  for (std::size_t i = 0; i < a.size(); ++i) difference.data()[i] -= b.data()[i];
  return norm(difference) / norm(b);
}

/// Unitary 2-D DFT by its definition; sign -1 forward, +1 inverse.
inline WaveStack dft(const WaveStack& in, int sign) {
  WaveStack rows(in.n(), in.shape());
  WaveStack out(in.n(), in.shape());
  const auto turn = [&](int k, int x, int n) {
    return std::polar(1 / std::sqrt(static_cast<double>(n)), sign * 2 * M_PI * (k * x) / n);
  };
  for (int i = 0; i < in.n(); ++i)
    for (int y = 0; y < in.h(); ++y)
      for (int kx = 0; kx < in.w(); ++kx)
        for (int x = 0; x < in.w(); ++x) rows(i, y, kx) += in(i, y, x) * turn(kx, x, in.w());
  for (int i = 0; i < in.n(); ++i)
    for (int ky = 0; ky < in.h(); ++ky)
      for (int kx = 0; kx < in.w(); ++kx)
        for (int y = 0; y < in.h(); ++y) out(i, ky, kx) += rows(i, y, kx) * turn(ky, y, in.h());
  return out;
}

inline int signed_frequency(int k, int n) {
  return k < (n + 1) / 2 ? k : k - n;
}

/// Each image's spectrum times factor(fy, fx), signed cycles per pixel.
template <class Factor>
void multiply_spectrum(WaveStack& waves, const Factor& factor) {
  WaveStack spectrum = dft(waves, -1);
  for (int i = 0; i < waves.n(); ++i)
    for (int y = 0; y < waves.h(); ++y)
      for (int x = 0; x < waves.w(); ++x)
        spectrum(i, y, x) *=
            factor(static_cast<double>(signed_frequency(y, waves.h())) / waves.h(),
                   static_cast<double>(signed_frequency(x, waves.w())) / waves.w());
  waves = dft(spectrum, +1);
}

/// The images moved by `shift` pixels.
inline WaveStack shifted(WaveStack waves, Vec2 shift) {
  multiply_spectrum(waves, [&](double fy, double fx) {
    return std::polar(1.0, -2 * M_PI * (fy * shift.y + fx * shift.x));
  });
  return waves;
}

/// Exit waves of one position, (n_modes, h, w).
inline WaveStack exit_waves(const WaveStack& object, const WaveStack& probe, Pixel corner,
                            Vec2 subpixel) {
  WaveStack waves = shifted(probe, subpixel);
  for (int m = 0; m < waves.n(); ++m)
    for (int y = 0; y < waves.h(); ++y)
      for (int x = 0; x < waves.w(); ++x) waves(m, y, x) *= object(0, corner.y + y, corner.x + x);
  return waves;
}

}  // namespace tessera::testing

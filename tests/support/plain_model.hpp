#pragma once
/// The model, and what one step of a method adds up, as plain loops in double precision: the one
/// truth that tests compare with. Slow and short; of the program it knows host images alone, so
/// that tests of CUDA kernels take it too.

#include <algorithm>
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

/// sum_x v[x stride] exp(sign 2 pi i k x / n) for every k: by even and odd x while n is even, then
/// by the definition.
inline std::vector<Complex> line_dft(const Complex* v, int stride, int n, int sign) {
  std::vector<Complex> out(static_cast<std::size_t>(n));
  const auto turn = [&](int k) { return std::polar(1.0, sign * 2 * M_PI * (k % n) / n); };
  if (n % 2 == 1) {
    for (int k = 0; k < n; ++k)
      for (int x = 0; x < n; ++x) out[k] += v[x * stride] * turn(k * x);
    return out;
  }
  const std::vector<Complex> even = line_dft(v, 2 * stride, n / 2, sign);
  const std::vector<Complex> odd = line_dft(v + stride, 2 * stride, n / 2, sign);
  for (int k = 0; k < n; ++k) out[k] = even[k % (n / 2)] + turn(k) * odd[k % (n / 2)];
  return out;
}

/// Unitary, along x alone; sign -1 forward, +1 inverse.
inline WaveStack dft_rows(WaveStack images, int sign) {
  for (int i = 0; i < images.n(); ++i)
    for (int y = 0; y < images.h(); ++y) {
      const std::vector<Complex> row = line_dft(&images(i, y, 0), 1, images.w(), sign);
      for (int x = 0; x < images.w(); ++x) images(i, y, x) = row[x] / std::sqrt(images.w());
    }
  return images;
}

/// Unitary 2-D DFT.
inline WaveStack dft(const WaveStack& original, int sign) {
  WaveStack images = dft_rows(original, sign);
  for (int i = 0; i < images.n(); ++i)
    for (int x = 0; x < images.w(); ++x) {
      const std::vector<Complex> column = line_dft(&images(i, 0, x), images.w(), images.h(), sign);
      for (int y = 0; y < images.h(); ++y) images(i, y, x) = column[y] / std::sqrt(images.h());
    }
  return images;
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

/// Through one plane of the object, in the window at `corner`.
inline void multiply_by_object(WaveStack& waves, const WaveStack& object, int plane, Pixel corner) {
  for (int m = 0; m < waves.n(); ++m)
    for (int y = 0; y < waves.h(); ++y)
      for (int x = 0; x < waves.w(); ++x)
        waves(m, y, x) *= object(plane, corner.y + y, corner.x + x);
}

/// Exit waves of one position behind a thin sample, (n_modes, h, w).
inline WaveStack exit_waves(const WaveStack& object, const WaveStack& probe, Pixel corner,
                            Vec2 subpixel) {
  WaveStack waves = shifted(probe, subpixel);
  multiply_by_object(waves, object, 0, corner);
  return waves;
}

/// sum_m |wave_m|^2 at every pixel, (1, h, w).
inline ImageStack<double> intensity(const WaveStack& waves) {
  ImageStack<double> sum(1, waves.shape());
  for (int m = 0; m < waves.n(); ++m)
    for (int i = 0; i < waves.shape().size(); ++i) sum.data()[i] += std::norm(waves.image(m)[i]);
  return sum;
}

/// What position j's detector waves lack in amplitude, sqrt(measured) - sqrt(model), where pixels
/// are trusted, (1, h, w).
/// @param scan its counts(j, y, x) and valid_pixels(0, y, x)
template <class Scan>
ImageStack<double> missing_amplitude(const Scan& scan, int j, const WaveStack& detector) {
  ImageStack<double> missing = intensity(detector);
  for (int y = 0; y < missing.h(); ++y)
    for (int x = 0; x < missing.w(); ++x)
      missing(0, y, x) = scan.valid_pixels(0, y, x) > 0
                             ? std::sqrt(scan.counts(j, y, x)) - std::sqrt(missing(0, y, x))
                             : 0;
  return missing;
}

/// The waves times missing / |waves|: with all of it they have the measured amplitude, unless they
/// are darker than `dark_amplitude`, which then is divided by.
inline WaveStack missing_waves(const WaveStack& detector, const ImageStack<double>& missing,
                               double dark_amplitude = 0) {
  const ImageStack<double> model = intensity(detector);
  WaveStack waves = detector;
  for (int m = 0; m < waves.n(); ++m)
    for (std::size_t i = 0; i < missing.size(); ++i)
      waves.image(m)[i] *= missing.data()[i] / std::max(std::sqrt(model.data()[i]), dark_amplitude);
  return waves;
}

/// chi of position j: what the modulus constraint adds to the exit waves, minus the gradient of the
/// amplitude cost at them.
/// @param scan with object, probe, corner and subpixel besides
template <class Scan>
WaveStack exit_wave_change(const Scan& scan, int j) {
  const WaveStack detector =
      dft(exit_waves(scan.object, scan.probe, scan.corner[j], scan.subpixel[j]), -1);
  return dft(missing_waves(detector, missing_amplitude(scan, j, detector)), +1);
}

/// The sums of physics::GradientSums over some positions of a thin sample.
struct PlainSums {
  WaveStack object;
  ImageStack<double> dose;
  WaveStack probe;
  ImageStack<double> overlap;

  PlainSums(Shape2 object_shape, int n_modes, Shape2 window)
      : object(1, object_shape),
        dose(1, object_shape),
        probe(n_modes, window),
        overlap(1, window) {}

  /// Adds conj(P) waves and |P|^2, of every mode.
  /// @param lit the probe P as it falls on the window at `corner`
  void add_to_object(const WaveStack& lit, const WaveStack& waves, Pixel corner) {
    for (int m = 0; m < lit.n(); ++m)
      for (int y = 0; y < lit.h(); ++y)
        for (int x = 0; x < lit.w(); ++x) {
          object(0, corner.y + y, corner.x + x) += std::conj(lit(m, y, x)) * waves(m, y, x);
          dose(0, corner.y + y, corner.x + x) += std::norm(lit(m, y, x));
        }
  }
  /// Adds |O|^2. conj(O) waves, of every mode.
  WaveStack add_overlap(const WaveStack& seen, WaveStack waves, Pixel corner) {
    for (int y = 0; y < waves.h(); ++y)
      for (int x = 0; x < waves.w(); ++x) {
        const Complex o = seen(0, corner.y + y, corner.x + x);
        overlap(0, y, x) += std::norm(o);
        for (int m = 0; m < waves.n(); ++m) waves(m, y, x) *= std::conj(o);
      }
    return waves;
  }
  /// Adds |O|^2 and conj(O) waves, moved back by `subpixel`.
  void add_to_probe(const WaveStack& seen, const WaveStack& waves, Pixel corner, Vec2 subpixel) {
    const WaveStack back = shifted(add_overlap(seen, waves, corner), Vec2{} - subpixel);
    for (std::size_t i = 0; i < back.size(); ++i) probe.data()[i] += back.data()[i];
  }
};

/// With the change of the exit waves of every one of `positions`.
template <class Scan, class Positions>
PlainSums plain_sums(const Scan& scan, const Positions& positions) {
  PlainSums sums(scan.object.shape(), scan.probe.n(), scan.probe.shape());
  for (const int j : positions) {
    const WaveStack chi = exit_wave_change(scan, j);
    sums.add_to_object(shifted(scan.probe, scan.subpixel[j]), chi, scan.corner[j]);
    sums.add_to_probe(scan.object, chi, scan.corner[j], scan.subpixel[j]);
  }
  return sums;
}

/// max over pixels of sum_m |probe_m|^2
inline double max_power(const WaveStack& probe) {
  const ImageStack<double> power = intensity(probe);
  return *std::max_element(power.begin(), power.end());
}

}  // namespace tessera::testing

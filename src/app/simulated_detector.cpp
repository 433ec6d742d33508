#include "simulated_detector.hpp"

#include <numbers>
#include <random>

#include "tessera/base/random.hpp"
#include "tessera/fft/host_fft.hpp"

namespace tessera::app {
namespace {

using Complex = std::complex<double>;

/// exp(-2 pi i frequency . shift): moves a wave by a fraction of a pixel, exactly.
Complex shift_phase(Shape2 shape, int y, int x, Vec2 shift_px) {
  const double cycles =
      fft::frequency(y, shape.h) * shift_px.y + fft::frequency(x, shape.w) * shift_px.x;
  return std::polar(1.0, -2 * std::numbers::pi * cycles);
}

WaveStack shifted(const WaveStack& probe_spectrum, Vec2 shift_px) {
  WaveStack probe = probe_spectrum;
  for (int y = 0; y < probe.h(); ++y)
    for (int x = 0; x < probe.w(); ++x) {
      const Complex phase = shift_phase(probe.shape(), y, x, shift_px);
      for (int mode = 0; mode < probe.n(); ++mode) probe(mode, y, x) *= phase;
    }
  fft::inverse_2d(probe);
  return probe;
}

void pass_through(WaveStack& waves, const Phantom& sample, Pixel corner) {
  for (int y = 0; y < waves.h(); ++y)
    for (int x = 0; x < waves.w(); ++x) {
      const Complex transmission = sample.transmission(corner.y + y, corner.x + x);
      for (int mode = 0; mode < waves.n(); ++mode) waves(mode, y, x) *= transmission;
    }
}

}  // namespace

ImageStack<double> intensities(const SimulatedScan& scan, Share share) {
  WaveStack probe_spectrum = scan.probe;
  fft::forward_2d(probe_spectrum);
  ImageStack<double> patterns(share.size(), scan.windows.window);
  for (int i = 0; i < share.size(); ++i) {
    const int position = share.begin + i;
    WaveStack waves = shifted(probe_spectrum, scan.windows.subpixel[position]);
    pass_through(waves, scan.sample, scan.windows.corner[position]);
    fft::forward_2d(waves);
    for (int mode = 0; mode < waves.n(); ++mode)
      for (std::int64_t pixel = 0; pixel < waves.shape().size(); ++pixel)
        patterns.image(i)[pixel] += std::norm(waves.image(mode)[pixel]);
  }
  return patterns;
}

void count(ImageStack<double>& patterns, Share share, std::uint64_t seed) {
  for (int i = 0; i < share.size(); ++i) {
    const int position = share.begin + i;
    std::mt19937_64 random(random_bits(seed, static_cast<std::uint64_t>(position)));
    for (std::int64_t pixel = 0; pixel < patterns.shape().size(); ++pixel) {
      double& value = patterns.image(i)[pixel];
      // The distribution needs a mean above 0.
      if (value > 0)
        value = static_cast<double>(std::poisson_distribution<std::int64_t>(value)(random));
    }
  }
}

void spoil_bad_pixels(ImageStack<double>& patterns, const SimulatedScan& scan) {
  constexpr double hot = 65535;
  for (std::int64_t pixel = 0; pixel < patterns.shape().size(); ++pixel) {
    if (scan.valid_pixels.data()[pixel]) continue;
    for (int i = 0; i < patterns.n(); ++i)
      patterns.image(i)[pixel] = scan.hot_pixels.data()[pixel] ? hot : 0;
  }
}

}  // namespace tessera::app

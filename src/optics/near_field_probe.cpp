#include "optics/near_field_probe.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "optics/host_propagation.hpp"

namespace tessera::optics {
namespace {

/// Mean over the trusted pixels of the smallest square about (y, x) that holds any; 0 if the image
/// has none.
double mean_nearby(const ImageStack<double>& image, const ImageStack<std::uint8_t>& valid_pixels,
                   int y, int x) {
  double sum = 0;
  int n = 0;
  for (int reach = 0; n == 0 && reach < std::max(image.h(), image.w()); ++reach)
    for (int v = std::max(0, y - reach); v <= std::min(image.h() - 1, y + reach); ++v)
      for (int u = std::max(0, x - reach); u <= std::min(image.w() - 1, x + reach); ++u) {
        if (!valid_pixels(0, v, u)) continue;
        sum += image(0, v, u);
        ++n;
      }
  return n > 0 ? sum / n : 0;
}

/// Times exp(i pi r . C r / wavelength), r from the centre of mass of |wave|^2: elsewhere the wave
/// would be tilted, too, and the object lie elsewhere.
void curve(WaveStack& wave, const Curvature& curvature, const geometry::Optics& optics) {
  double total = 0;
  Vec2 moment;
  for (int y = 0; y < wave.h(); ++y)
    for (int x = 0; x < wave.w(); ++x) {
      const double weight = std::norm(wave(0, y, x));
      total += weight;
      moment = moment + weight * Vec2{1.0 * y, 1.0 * x};
    }
  if (total == 0) return;
  const double rad_per_m = std::numbers::pi * optics.pixel_m * optics.pixel_m / optics.wavelength_m;
  for (int y = 0; y < wave.h(); ++y)
    for (int x = 0; x < wave.w(); ++x) {
      const Vec2 r = Vec2{1.0 * y, 1.0 * x} - moment / total;
      wave(0, y, x) *= std::polar(
          1.0, rad_per_m * (curvature.yy_per_m * r.y * r.y + 2 * curvature.yx_per_m * r.y * r.x +
                            curvature.xx_per_m * r.x * r.x));
    }
}

}  // namespace

WaveStack near_field_probe(const ImageStack<double>& intensity,
                           const ImageStack<std::uint8_t>& valid_pixels,
                           const geometry::Optics& optics, const Curvature& curvature,
                           bool paraxial) {
  WaveStack wave(1, intensity.shape());
  for (int y = 0; y < wave.h(); ++y)
    for (int x = 0; x < wave.w(); ++x)
      wave(0, y, x) = std::sqrt(std::max(0.0, mean_nearby(intensity, valid_pixels, y, x)));
  curve(wave, curvature, optics);
  WaveStack back = near_field_propagator(intensity.shape(), optics, paraxial);
  for (std::complex<double>& factor : back) factor = std::conj(factor);
  propagate(wave, back);
  return wave;
}

}  // namespace tessera::optics

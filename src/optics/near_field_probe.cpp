#include "optics/near_field_probe.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "optics/host_propagation.hpp"

namespace tessera::optics {
namespace {

/// Sums over boxes of an image's trusted pixels, each in four steps.
class TrustedSums {
 public:
  TrustedSums(const ImageStack<double>& image, const ImageStack<std::uint8_t>& valid_pixels)
      : sums_(1, {image.h() + 1, image.w() + 1}), counts_(1, sums_.shape()) {
    for (int y = 0; y < image.h(); ++y)
      for (int x = 0; x < image.w(); ++x) {
        extend(sums_, y, x, valid_pixels(0, y, x) ? image(0, y, x) : 0);
        extend(counts_, y, x, valid_pixels(0, y, x) ? 1 : 0);
      }
  }

  /// Mean over the smallest square about (y, x) that holds any; 0 if the image has none.
  double mean_nearby(int y, int x) const {
    int too_small = -1;
    int reach = std::max(sums_.h(), sums_.w());
    while (reach - too_small > 1) {
      const int middle = (reach + too_small) / 2;
      (within(counts_, y, x, middle) > 0 ? reach : too_small) = middle;
    }
    const double n = within(counts_, y, x, reach);
    return n > 0 ? within(sums_, y, x, reach) / n : 0;
  }

 private:
  static void extend(ImageStack<double>& sums, int y, int x, double value) {
    sums(0, y + 1, x + 1) = value + sums(0, y, x + 1) + sums(0, y + 1, x) - sums(0, y, x);
  }
  static double within(const ImageStack<double>& sums, int y, int x, int reach) {
    const int top = std::max(0, y - reach);
    const int left = std::max(0, x - reach);
    const int bottom = std::min(sums.h() - 1, y + reach + 1);
    const int right = std::min(sums.w() - 1, x + reach + 1);
    return sums(0, bottom, right) - sums(0, top, right) - sums(0, bottom, left) +
           sums(0, top, left);
  }

  ImageStack<double> sums_;  ///< of all pixels above and to the left
  ImageStack<double> counts_;
};

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
  const TrustedSums trusted(intensity, valid_pixels);
  for (int y = 0; y < wave.h(); ++y)
    for (int x = 0; x < wave.w(); ++x)
      wave(0, y, x) = std::sqrt(
          std::max(0.0, valid_pixels(0, y, x) ? intensity(0, y, x) : trusted.mean_nearby(y, x)));
  curve(wave, curvature, optics);
  WaveStack back = near_field_propagator(intensity.shape(), optics, paraxial);
  for (std::complex<double>& factor : back) factor = std::conj(factor);
  propagate(wave, back);
  return wave;
}

}  // namespace tessera::optics

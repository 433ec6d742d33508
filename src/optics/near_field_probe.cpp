#include "optics/near_field_probe.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

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

}  // namespace

WaveStack near_field_probe(const ImageStack<double>& intensity,
                           const ImageStack<std::uint8_t>& valid_pixels,
                           const geometry::Optics& optics, bool paraxial) {
  WaveStack wave(1, intensity.shape());
  for (int y = 0; y < wave.h(); ++y)
    for (int x = 0; x < wave.w(); ++x)
      wave(0, y, x) = std::sqrt(std::max(0.0, mean_nearby(intensity, valid_pixels, y, x)));
  WaveStack back = near_field_propagator(intensity.shape(), optics, paraxial);
  for (std::complex<double>& factor : back) factor = std::conj(factor);
  propagate(wave, back);
  return wave;
}

}  // namespace tessera::optics

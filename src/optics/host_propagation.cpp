#include "optics/host_propagation.hpp"

#include <cmath>
#include <numbers>

#include "tessera/optics/host_fft.hpp"

namespace tessera::optics {
namespace {

using Complex = std::complex<double>;
using std::numbers::pi;

/// factor(frequency) at every pixel of a spectrum, frequencies in 1 / pixel_size.
template <class Factor>
WaveStack spectrum_of(Shape2 shape, double pixel_size, const Factor& factor) {
  WaveStack spectrum(1, shape);
  for (int y = 0; y < shape.h; ++y)
    for (int x = 0; x < shape.w; ++x)
      spectrum(0, y, x) =
          factor(Vec2{frequency(y, shape.h) / pixel_size, frequency(x, shape.w) / pixel_size});
  return spectrum;
}

/// sqrt(q^2 - k^2) - q = -k^2 / (sqrt(q^2 - k^2) + q), where nothing cancels; q = 1 / wavelength.
/// Waves beyond q decay.
Complex angular_spectrum(double k2, double wavelength_m, double distance_m) {
  const double q = 1 / wavelength_m;
  return std::exp(Complex(0, -2 * pi * distance_m) * k2 / (std::sqrt(Complex(q * q - k2)) + q));
}

}  // namespace

WaveStack slice_propagator(Shape2 window, const geometry::Optics& optics, double thickness_m,
                           Vec2 tilt_rad) {
  const Vec2 shift_m{thickness_m * std::tan(tilt_rad.y), thickness_m * std::tan(tilt_rad.x)};
  return spectrum_of(window, optics.pixel_m, [&](Vec2 k) {
    return angular_spectrum(k.y * k.y + k.x * k.x, optics.wavelength_m, thickness_m) *
           std::polar(1.0, -2 * pi * (k.y * shift_m.y + k.x * shift_m.x));
  });
}

WaveStack near_field_propagator(Shape2 window, const geometry::Optics& optics, bool paraxial) {
  return spectrum_of(window, optics.pixel_m, [&](Vec2 k) {
    const double k2 = k.y * k.y + k.x * k.x;
    return paraxial ? std::polar(1.0, -pi * optics.wavelength_m * optics.propagation_m * k2)
                    : angular_spectrum(k2, optics.wavelength_m, optics.propagation_m);
  });
}

void propagate(WaveStack& waves, const WaveStack& propagator) {
  forward_2d(waves);
  for (int i = 0; i < waves.n(); ++i)
    for (std::int64_t k = 0; k < waves.shape().size(); ++k)
      waves.image(i)[k] *= propagator.data()[k];
  inverse_2d(waves);
}

void blur(WaveStack& images, double sigma_px) {
  propagate(
      images, spectrum_of(images.shape(), 1, [&](Vec2 f) {
        return Complex(std::exp(-2 * pi * pi * sigma_px * sigma_px * (f.y * f.y + f.x * f.x)));
      }));
}

}  // namespace tessera::optics

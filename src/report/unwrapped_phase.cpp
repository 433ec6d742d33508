#include "report/unwrapped_phase.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "tessera/optics/host_fft.hpp"

namespace tessera::report {
namespace {

constexpr double two_pi = 2 * std::numbers::pi;

double wrapped(double phase_rad) {
  return phase_rad - two_pi * std::round(phase_rad / two_pi);
}

/// Of a function on twice the grid that is its own mirror image at the edges: no slope there.
Pixel mirrored(int y, int x, Shape2 shape) {
  return {y < shape.h ? y : 2 * shape.h - 1 - y, x < shape.w ? x : 2 * shape.w - 1 - x};
}

/// Differences to the next pixel downwards (axis 0) or to the right; 0 across the edge of the lit.
ImageStack<double> differences(const ImageStack<double>& phase_rad, const optics::PixelSet& lit,
                               Pixel step) {
  ImageStack<double> found(1, phase_rad.shape());
  for (int y = 0; y + step.y < phase_rad.h(); ++y)
    for (int x = 0; x + step.x < phase_rad.w(); ++x)
      if (lit(0, y, x) && lit(0, y + step.y, x + step.x))
        found(0, y, x) = wrapped(phase_rad(0, y + step.y, x + step.x) - phase_rad(0, y, x));
  return found;
}

/// The function whose Laplacian is that of the differences.
ImageStack<double> smooth_phase(const ImageStack<double>& phase_rad, const optics::PixelSet& lit) {
  const Shape2 shape = phase_rad.shape();
  const ImageStack<double> down = differences(phase_rad, lit, {1, 0});
  const ImageStack<double> right = differences(phase_rad, lit, {0, 1});
  WaveStack spectrum(1, {2 * shape.h, 2 * shape.w});
  for (int y = 0; y < 2 * shape.h; ++y)
    for (int x = 0; x < 2 * shape.w; ++x) {
      const Pixel at = mirrored(y, x, shape);
      spectrum(0, y, x) = down(0, at.y, at.x) - (at.y > 0 ? down(0, at.y - 1, at.x) : 0) +
                          right(0, at.y, at.x) - (at.x > 0 ? right(0, at.y, at.x - 1) : 0);
    }
  optics::forward_2d(spectrum);
  for (int y = 0; y < spectrum.h(); ++y)
    for (int x = 0; x < spectrum.w(); ++x) {
      const double laplacian = 2 * std::cos(two_pi * optics::frequency(y, spectrum.h())) +
                               2 * std::cos(two_pi * optics::frequency(x, spectrum.w())) - 4;
      spectrum(0, y, x) = laplacian == 0 ? 0 : spectrum(0, y, x) / laplacian;
    }
  optics::inverse_2d(spectrum);
  ImageStack<double> smooth(1, shape);
  for (int y = 0; y < shape.h; ++y)
    for (int x = 0; x < shape.w; ++x) smooth(0, y, x) = spectrum(0, y, x).real();
  return smooth;
}

}  // namespace

std::vector<int> turns_of(const ImageStack<double>& phase_rad, const optics::PixelSet& lit) {
  const ImageStack<double> smooth = smooth_phase(phase_rad, lit);
  std::complex<double> sum = 0;
  for (std::size_t r = 0; r < smooth.size(); ++r)
    if (lit.data()[r]) sum += std::polar(1.0, phase_rad.data()[r] - smooth.data()[r]);
  const double offset_rad = std::arg(sum);
  std::vector<int> turns(smooth.size());
  std::vector<int> of_lit;
  for (std::size_t r = 0; r < turns.size(); ++r) {
    const double difference = smooth.data()[r] + offset_rad - phase_rad.data()[r];
    turns[r] = static_cast<int>(std::lround(difference / two_pi));
    if (lit.data()[r]) of_lit.push_back(turns[r]);
  }
  if (of_lit.empty()) return turns;
  const auto middle = of_lit.begin() + std::ssize(of_lit) / 2;
  std::ranges::nth_element(of_lit, middle);
  for (int& turn : turns) turn -= *middle;
  return turns;
}

}  // namespace tessera::report

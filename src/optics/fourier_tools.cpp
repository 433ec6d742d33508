#include "optics/fourier_tools.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "tessera/optics/host_fft.hpp"

namespace tessera::optics {
namespace {

using Complex = std::complex<double>;
using Matrix = Eigen::Matrix<Complex, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
constexpr double two_pi = 2 * std::numbers::pi;

/// Multiply every spectrum by the product of a factor per row and one per column.
void multiply(WaveStack& spectra, const std::vector<Complex>& rows,
              const std::vector<Complex>& columns) {
  for (int i = 0; i < spectra.n(); ++i)
    for (int y = 0; y < spectra.h(); ++y)
      for (int x = 0; x < spectra.w(); ++x) spectra(i, y, x) *= rows[y] * columns[x];
}

std::vector<Complex> shift_factors(int n, double shift_px) {
  std::vector<Complex> factors(n);
  for (int k = 0; k < n; ++k) factors[k] = std::polar(1.0, -two_pi * frequency(k, n) * shift_px);
  return factors;
}

std::vector<Complex> derivative_factors(int n) {
  std::vector<Complex> factors(n);
  for (int k = 0; k < n; ++k) factors[k] = Complex(0, two_pi * frequency(k, n));
  // The highest frequency of an even length has no sign, so no slope.
  if (n % 2 == 0) factors[n / 2] = 0;
  return factors;
}

/// exp(-2 pi i r f) for `n_steps` frequencies f either side of `middle` and every sample r of n.
Matrix transform_matrix(double middle, double step, int n_steps, int n, Samples samples) {
  Matrix matrix(2 * n_steps + 1, n);
  for (int j = -n_steps; j <= n_steps; ++j)
    for (int k = 0; k < n; ++k) {
      const int r = samples == Samples::spectrum && k >= (n + 1) / 2 ? k - n : k;
      matrix(j + n_steps, k) = std::polar(1.0, -two_pi * r * (middle + j * step));
    }
  return matrix;
}

Vec2 coarse_peak(const WaveStack& image) {
  WaveStack spectrum = image;
  forward_2d(spectrum);
  const auto max = std::max_element(
      spectrum.begin(), spectrum.end(),
      [](const Complex& a, const Complex& b) { return std::norm(a) < std::norm(b); });
  const auto bin = max - spectrum.begin();
  return {frequency(static_cast<int>(bin / image.w()), image.h()),
          frequency(static_cast<int>(bin % image.w()), image.w())};
}

}  // namespace

WaveStack shifted(WaveStack waves, Vec2 shift_px) {
  if (shift_px == Vec2{}) return waves;
  forward_2d(waves);
  multiply(waves, shift_factors(waves.h(), shift_px.y), shift_factors(waves.w(), shift_px.x));
  inverse_2d(waves);
  return waves;
}

std::array<WaveStack, 2> gradient(const WaveStack& waves) {
  WaveStack spectra = waves;
  forward_2d(spectra);
  std::array<WaveStack, 2> slopes{spectra, std::move(spectra)};
  const std::vector<Complex> ones_y(waves.h(), 1.0);
  const std::vector<Complex> ones_x(waves.w(), 1.0);
  multiply(slopes[0], derivative_factors(waves.h()), ones_x);
  multiply(slopes[1], ones_y, derivative_factors(waves.w()));
  for (WaveStack& slope : slopes) inverse_2d(slope);
  return slopes;
}

Vec2 transform_peak(const WaveStack& image, Samples samples) {
  const Eigen::Map<const Matrix> values(image.data(), image.h(), image.w());
  Vec2 peak = coarse_peak(image);
  constexpr int n_steps = 7;  // at each fineness: past the neighbours of the coarser peak
  for (const double fineness : {0.1, 0.01}) {
    const Vec2 step{fineness / image.h(), fineness / image.w()};
    const Matrix rows = transform_matrix(peak.y, step.y, n_steps, image.h(), samples);
    const Matrix columns = transform_matrix(peak.x, step.x, n_steps, image.w(), samples);
    const Matrix around = rows * values * columns.transpose();
    Eigen::Index y = 0;
    Eigen::Index x = 0;
    around.cwiseAbs2().maxCoeff(&y, &x);
    peak.y += static_cast<double>(y - n_steps) * step.y;
    peak.x += static_cast<double>(x - n_steps) * step.x;
  }
  return peak;
}

}  // namespace tessera::optics

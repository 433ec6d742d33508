#include "analysis/ring_correlation.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "tessera/optics/host_fft.hpp"

namespace tessera::analysis {
namespace {

/// The least correlation at which a ring of `n` independent samples carries the information that
/// a signal-to-noise ratio of `snr` in each half of the data would give.
double threshold(double snr, double n) {
  const double root_n = std::sqrt(std::max(n, 1.0));
  const double both = 2 * std::sqrt(snr) / root_n;
  return (snr + both + 1 / root_n) / (snr + 1 + both);
}

WaveStack windowed_spectrum(WaveStack waves, const ImageStack<double>& window) {
  double weight = 0;
  for (const double value : window) weight += value;
  for (int i = 0; i < waves.n(); ++i) {
    std::complex<double> sum = 0;
    for (std::int64_t r = 0; r < waves.shape().size(); ++r)
      sum += window.data()[r] * waves.image(i)[r];
    for (std::int64_t r = 0; r < waves.shape().size(); ++r)
      waves.image(i)[r] = window.data()[r] * (waves.image(i)[r] - sum / weight);
  }
  optics::forward_2d(waves);
  return waves;
}

/// A window that is narrow in space correlates neighbouring frequencies: this share is independent.
double independent_share(const ImageStack<double>& window) {
  double second = 0;
  double fourth = 0;
  for (const double value : window) {
    second += value * value;
    fourth += value * value * value * value;
  }
  return second * second / (fourth * static_cast<double>(window.size()));
}

}  // namespace

RingCorrelation ring_correlation(const WaveStack& a, const WaveStack& b,
                                 const optics::PixelSet& region) {
  const Box box = optics::bounding_box(region);
  const int shortest = std::min(box.height(), box.width());
  const ImageStack<double> window = optics::soft_window(optics::cropped(region, box), shortest / 8);
  const WaveStack in_a = windowed_spectrum(optics::cropped(a, box), window);
  const WaveStack in_b = windowed_spectrum(optics::cropped(b, box), window);

  const int n_rings = shortest / 2 + 1;
  std::vector<double> product(n_rings), power_a(n_rings), power_b(n_rings), samples(n_rings);
  for (int i = 0; i < in_a.n(); ++i)
    for (int y = 0; y < in_a.h(); ++y)
      for (int x = 0; x < in_a.w(); ++x) {
        const double cycles =
            std::hypot(optics::frequency(y, in_a.h()), optics::frequency(x, in_a.w()));
        const auto ring = std::lround(cycles * shortest);
        if (ring >= n_rings) continue;
        product[ring] += (in_a(i, y, x) * std::conj(in_b(i, y, x))).real();
        power_a[ring] += std::norm(in_a(i, y, x));
        power_b[ring] += std::norm(in_b(i, y, x));
        samples[ring] += 1;
      }

  RingCorrelation rings;
  const double share = independent_share(window);
  for (int ring = 0; ring < n_rings; ++ring) {
    const double power = std::sqrt(power_a[ring] * power_b[ring]);
    rings.nyquist_fraction.push_back(2.0 * ring / shortest);
    rings.correlation.push_back(power > 0 ? product[ring] / power : 0);
    rings.one_bit.push_back(threshold(0.5, share * samples[ring]));
    rings.half_bit.push_back(threshold((std::numbers::sqrt2 - 1) / 2, share * samples[ring]));
  }
  return rings;
}

double resolved_fraction(const RingCorrelation& rings, const std::vector<double>& threshold) {
  // Ring 0 is the mean, which is removed.
  for (std::size_t ring = 1; ring < threshold.size(); ++ring) {
    const double above = rings.correlation[ring] - threshold[ring];
    if (above >= 0) continue;
    if (ring == 1) return 0;
    const double above_before = rings.correlation[ring - 1] - threshold[ring - 1];
    const double part = above_before / (above_before - above);
    return rings.nyquist_fraction[ring - 1] +
           part * (rings.nyquist_fraction[ring] - rings.nyquist_fraction[ring - 1]);
  }
  return 1;
}

}  // namespace tessera::analysis

#include "analysis/ring_correlation.hpp"

#include <algorithm>
#include <array>
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

/// Sums over rings, of all blocks.
struct RingSums {
  explicit RingSums(int length_px)
      : length(length_px),
        product(length_px / 2 + 1),
        power_a(product),
        power_b(product),
        samples(product) {}
  int length;  ///< pixels; a ring is 1 / length cycles per pixel wide
  std::vector<double> product, power_a, power_b;
  std::vector<double> samples;  ///< independent ones

  void add(const PairBlock& block);
};

void RingSums::add(const PairBlock& block) {
  const Box box = optics::bounding_box(block.lit);
  const ImageStack<double> window =
      optics::soft_window(optics::cropped(block.lit, box), std::min(box.height(), box.width()) / 8);
  const WaveStack in_a = windowed_spectrum(optics::cropped(block.a, box), window);
  const WaveStack in_b = windowed_spectrum(optics::cropped(block.b, box), window);
  const double share = independent_share(window);
  for (int i = 0; i < in_a.n(); ++i)
    for (int y = 0; y < in_a.h(); ++y)
      for (int x = 0; x < in_a.w(); ++x) {
        const double cycles =
            std::hypot(optics::frequency(y, in_a.h()), optics::frequency(x, in_a.w()));
        const auto ring = std::lround(cycles * length);
        if (ring >= std::ssize(product)) continue;
        product[ring] += (in_a(i, y, x) * std::conj(in_b(i, y, x))).real();
        power_a[ring] += std::norm(in_a(i, y, x));
        power_b[ring] += std::norm(in_b(i, y, x));
        samples[ring] += share;
      }
}

/// The shorter side of the greatest box of lit pixels in a block.
int ring_length(const ObjectPair& pair) {
  std::array<double, 1> longest{};
  pair.for_each_lit([&](const optics::PixelSet& lit) {
    const Box box = optics::bounding_box(lit);
    longest[0] = std::max<double>(longest[0], std::min(box.height(), box.width()));
  });
  pair.comm().maximum(longest);
  return static_cast<int>(longest[0]);
}

}  // namespace

RingCorrelation ring_correlation(const ObjectPair& pair) {
  RingSums sums(ring_length(pair));
  pair.for_each([&](const PairBlock& block) { sums.add(block); });
  for (auto* values : {&sums.product, &sums.power_a, &sums.power_b, &sums.samples})
    pair.comm().sum(*values);

  RingCorrelation rings;
  for (std::size_t ring = 0; ring < sums.product.size(); ++ring) {
    const double power = std::sqrt(sums.power_a[ring] * sums.power_b[ring]);
    rings.nyquist_fraction.push_back(2.0 * static_cast<double>(ring) / sums.length);
    rings.correlation.push_back(power > 0 ? sums.product[ring] / power : 0);
    rings.one_bit.push_back(threshold(0.5, sums.samples[ring]));
    rings.half_bit.push_back(threshold((std::numbers::sqrt2 - 1) / 2, sums.samples[ring]));
  }
  return rings;
}

double resolved_fraction(const RingCorrelation& rings, const std::vector<double>& threshold) {
  // Ring 0 is the mean, which is removed. One ring may dip by chance, or where a sample has little.
  const auto above_line = [&](std::size_t ring) {
    const std::size_t first = std::max<std::size_t>(ring, 2) - 1;
    const std::size_t end = std::min(ring + 2, threshold.size());
    double sum = 0;
    for (std::size_t near = first; near < end; ++near)
      sum += rings.correlation[near] - threshold[near];
    return sum / static_cast<double>(end - first);
  };
  for (std::size_t ring = 1; ring < threshold.size(); ++ring) {
    const double above = above_line(ring);
    if (above >= 0) continue;
    if (ring == 1) return 0;
    const double above_before = above_line(ring - 1);
    const double part = above_before / (above_before - above);
    return rings.nyquist_fraction[ring - 1] +
           part * (rings.nyquist_fraction[ring] - rings.nyquist_fraction[ring - 1]);
  }
  return 1;
}

}  // namespace tessera::analysis

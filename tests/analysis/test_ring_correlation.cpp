// Ring correlations must be what they are by construction.

#include <cmath>

#include <gtest/gtest.h>

#include "analysis/ring_correlation.hpp"
#include "support/filtered_noise.hpp"
#include "support/world.hpp"

namespace tessera::analysis {
namespace {

using testing::filtered_noise;
using testing::sum;

constexpr Shape2 noise_shape{256, 240};

RingCorrelation rings_of_all(const WaveStack& a, const WaveStack& b) {
  return ring_correlation({a, b, optics::PixelSet(1, a.shape(), 1), testing::world()});
}

const auto white = [](double) { return 1.0; };

TEST(RingCorrelation, OfAnObjectWithItselfIsOne) {
  const WaveStack a = filtered_noise(noise_shape, 1, white);
  const RingCorrelation rings = rings_of_all(a, a);
  for (const double value : rings.correlation) EXPECT_NEAR(value, 1, 1e-12);
  EXPECT_EQ(resolved_fraction(rings, rings.one_bit), 1);
  EXPECT_NEAR(rings.nyquist_fraction.back(), 1, 1e-12);
}

TEST(RingCorrelation, OfIndependentNoiseIsNearZero) {
  const WaveStack a = filtered_noise(noise_shape, 1, white);
  const WaveStack b = filtered_noise(noise_shape, 2, white);
  const RingCorrelation rings = rings_of_all(a, b);
  double mean = 0;
  for (std::size_t ring = 8; ring < rings.correlation.size(); ++ring) {
    EXPECT_LT(std::abs(rings.correlation[ring]), 0.3);
    mean += rings.correlation[ring] / static_cast<double>(rings.correlation.size() - 8);
  }
  EXPECT_NEAR(mean, 0, 0.02);
  EXPECT_LT(resolved_fraction(rings, rings.half_bit), 0.1);
}

TEST(RingCorrelation, ThresholdsTendToTheirLimits) {
  const WaveStack a = filtered_noise(noise_shape, 1, white);
  const RingCorrelation rings = rings_of_all(a, a);
  // 0.5 / 1.5 and 0.2071 / 1.2071 for infinitely many samples (van Heel & Schatz 2005), from above.
  EXPECT_GT(rings.one_bit.back(), 0.3333);
  EXPECT_LT(rings.one_bit.back(), 0.42);
  EXPECT_GT(rings.half_bit.back(), 0.1716);
  EXPECT_LT(rings.half_bit.back(), 0.25);
  EXPECT_GT(rings.one_bit[2], rings.one_bit.back());
}

TEST(RingCorrelation, OneRingThatDipsIsNotTheEnd) {
  const std::vector<double> line(7, 0.5);
  const RingCorrelation rings{
      {0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, {1, 0.9, 0.3, 0.9, 0.9, 0.1, 0.1}, line, line};
  EXPECT_NEAR(resolved_fraction(rings, line), 0.45, 1e-12);
}

TEST(RingCorrelation, FallsBelowTheLinesWhereSignalAndNoiseSaySo) {
  // Power of the signal falls as 10^(-4 f) from 100 times the noise's: the correlation of two noisy
  // copies is s / (s + 1).
  const auto gain = [](double f) { return 10 * std::pow(10.0, -2 * f); };
  const WaveStack signal = filtered_noise(noise_shape, 1, gain);
  const WaveStack a = sum(signal, filtered_noise(noise_shape, 2, white));
  const WaveStack b = sum(signal, filtered_noise(noise_shape, 3, white));
  const RingCorrelation rings = rings_of_all(a, b);
  // Where s / (s + 1) meets a threshold t of about 0.37 or 0.21 at this number of samples.
  auto expected = [&](double t) { return (2 - std::log10(t / (1 - t))) / 4; };
  EXPECT_NEAR(resolved_fraction(rings, rings.one_bit), expected(0.37), 0.04);
  EXPECT_NEAR(resolved_fraction(rings, rings.half_bit), expected(0.21), 0.06);
}

}  // namespace
}  // namespace tessera::analysis

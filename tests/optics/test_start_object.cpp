// Start objects out of numbers per pattern, against functions that are known.
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "tessera/base/random.hpp"
#include "tessera/optics/host_fft.hpp"

#include "optics/coarse_map.hpp"

namespace tessera::optics {
namespace {

const Shape2 object{150, 190};

/// A jittered raster that leaves a margin of 15 pixels.
std::vector<Vec2> points() {
  std::vector<Vec2> found;
  for (int y = 0; y < 20; ++y)
    for (int x = 0; x < 26; ++x) {
      const auto i = static_cast<std::uint64_t>(found.size());
      found.push_back(
          {15 + 6.2 * y + random_unit(1, 2 * i), 15 + 6.2 * x + random_unit(1, 2 * i + 1)});
    }
  return found;
}

/// Largest and rms difference inside the scan, but for a constant.
struct Difference {
  double rms;
  double span;  ///< of what is expected
};

Difference difference(const CoarseMap& map, const std::function<double(double, double)>& expected) {
  double n = 0;
  double sum = 0;
  double squares = 0;
  double min = 1e9;
  double max = -1e9;
  for (int y = 20; y < 130; ++y)
    for (int x = 20; x < 165; ++x) {
      const double d = map.at({y, x}) - expected(y, x);
      min = std::min(min, expected(y, x));
      max = std::max(max, expected(y, x));
      n += 1;
      sum += d;
      squares += d * d;
    }
  return {std::sqrt(squares / n - sum / n * sum / n), max - min};
}

TEST(CoarseStep, GivesAboutOneNodeAPoint) {
  EXPECT_NEAR(coarse_step_px(points()), 6.2, 0.5);
  EXPECT_EQ(coarse_step_px(std::vector<Vec2>{{3, 3}}), 1);
}

TEST(Spread, KeepsASmoothFunctionAndFallsBackFarAway) {
  const auto function = [](double y, double x) {
    return 0.8 + 0.1 * std::cos(y / 25) * std::sin(x / 30);
  };
  const std::vector<Vec2> at = points();
  std::vector<double> values;
  for (const Vec2& p : at) values.push_back(function(p.y, p.x));
  const CoarseMap map = spread({200, 240}, 6, at, values, 1);
  const Difference found = difference(map, function);
  EXPECT_LT(found.rms, 0.03 * found.span);
  EXPECT_NEAR(map.at({199, 239}), 1, 1e-12);
}

TEST(PhaseOfGradients, IsThePhaseWithItsSign) {
  const auto bump = [](double y, double x) {
    return std::exp(-((y - 80) * (y - 80) + (x - 70) * (x - 70)) / 800);
  };
  // A bump on a ramp: neither vanishes at the edges of the scan.
  const auto phase = [&](double y, double x) { return 1.5 * bump(y, x) + 0.02 * y - 0.01 * x; };
  const std::vector<Vec2> at = points();
  std::vector<Vec2> gradients;
  for (const Vec2& p : at)
    gradients.push_back({1.5 * bump(p.y, p.x) * (80 - p.y) / 400 + 0.02,
                         1.5 * bump(p.y, p.x) * (70 - p.x) / 400 - 0.01});
  const Difference found = difference(phase_of_gradients(object, 6, at, gradients), phase);
  EXPECT_LT(found.rms, 0.02 * found.span);
}

TEST(PhaseOfGradients, OfARampIsThatRampEverywhere) {
  const std::vector<Vec2> at = points();
  const std::vector<Vec2> gradients(at.size(), Vec2{0.03, -0.02});
  const CoarseMap map = phase_of_gradients(object, 6, at, gradients);
  EXPECT_NEAR(map.at({149, 0}) - map.at({0, 0}), 149 * 0.03, 1e-9);
  EXPECT_NEAR(map.at({7, 189}) - map.at({7, 0}), -189 * 0.02, 1e-9);
}

/// A probe of 12 x 16 about (7, 5) whose wave runs at (+2, -3) cycles per window.
TEST(Centres, AreThoseOfProbeAndPattern) {
  WaveStack probe(1, {12, 16});
  for (int y = 0; y < 12; ++y)
    for (int x = 0; x < 16; ++x)
      probe(0, y, x) = std::polar(std::exp(-((y - 7) * (y - 7) + (x - 5) * (x - 5)) / 4.0),
                                  2 * M_PI * (2 * y / 12.0 - 3 * x / 16.0));
  const Vec2 centre = illumination_centre_px(probe);
  EXPECT_NEAR(centre.y, 7, 1e-3);
  EXPECT_NEAR(centre.x, 5, 1e-3);
  const Vec2 pattern = pattern_centre_px(probe, ImageStack<std::uint8_t>(1, {12, 16}, 1));
  EXPECT_NEAR(pattern.y, 2, 0.02);
  EXPECT_NEAR(pattern.x, -3, 0.02);
}

}  // namespace
}  // namespace tessera::optics

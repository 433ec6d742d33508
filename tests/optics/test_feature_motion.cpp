// Images that move by a known matrix, and images that do not move at all.

#include <cmath>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "tessera/base/random.hpp"

#include "optics/feature_motion.hpp"

namespace tessera::optics {
namespace {

constexpr Shape2 window{72, 64};

/// Blobs on a disturbed lattice, a function of continuous pixels.
double sample(double y, double x) {
  double sum = 0;
  const auto row = static_cast<int>(std::floor(y / 7));
  const auto column = static_cast<int>(std::floor(x / 7));
  for (int v = row - 2; v <= row + 2; ++v)
    for (int u = column - 2; u <= column + 2; ++u) {
      const auto cell = static_cast<std::uint64_t>(1000 * (v + 400) + u + 400);
      const double dy = y - 7 * (v + random_unit(3, 3 * cell));
      const double dx = x - 7 * (u + random_unit(3, 3 * cell + 1));
      sum += (random_unit(3, 3 * cell + 2) - 0.5) * std::exp(-(dy * dy + dx * dx) / 8);
    }
  return sum;
}

double beam(int y, int x) {
  const double v = (y - 34) / 20.0;
  const double u = (x - 30) / 20.0;
  return 1000 * std::exp(-v * v - u * u);
}

struct Images {
  std::vector<Vec2> positions_px;
  ImageStack<double> patterns;

  /// @param contrast of the sample; the rest is the beam, which stands still
  Images(const FeatureMotion& m, double contrast, double noise) : patterns(49, window) {
    for (int i = 0; i < 49; ++i) {
      const Vec2 p{3.0 * (i / 7) + random_unit(5, 2 * i),
                   3.0 * (i % 7) + random_unit(5, 2 * i + 1)};
      positions_px.push_back(p);
      const Vec2 at{m.yy * p.y + m.yx * p.x, m.yx * p.y + m.xx * p.x};
      for (int y = 0; y < window.h; ++y)
        for (int x = 0; x < window.w; ++x) {
          const auto draw = static_cast<std::uint64_t>((i * window.h + y) * window.w + x);
          patterns(i, y, x) = beam(y, x) * (1 + contrast * sample(y + at.y, x + at.x) +
                                            noise * (random_unit(7, draw) - 0.5));
        }
    }
  }
  FeatureMotion motion() const {
    return feature_motion(patterns, positions_px,
                          spread_pairs(positions_px, window, apart_in_images));
  }
};

TEST(FeatureMotion, IsFoundInEveryDirection) {
  for (const FeatureMotion& truth :
       {FeatureMotion{1, 0, 1}, FeatureMotion{1.4, 0, 1.4}, FeatureMotion{0.7, 0, 0.7},
        FeatureMotion{1.3, 0.1, 1.1}, FeatureMotion{2.5, 0, 2.5}}) {
    const FeatureMotion found = Images(truth, 0.4, 0.3).motion();
    EXPECT_NEAR(found.yy, truth.yy, 0.05);
    EXPECT_NEAR(found.yx, truth.yx, 0.05);
    EXPECT_NEAR(found.xx, truth.xx, 0.05);
    EXPECT_GT(found.correlation, 0.2);
    EXPECT_LE(found.flat_correlation, found.correlation);
  }
}

TEST(FeatureMotion, OfNoiseAloneHasNoCorrelation) {
  EXPECT_LT(Images({}, 0, 0.3).motion().correlation, 0.03);
}

/// In a cone as a far field has it, lit evenly about the middle.
Images cone(double m, double contrast, double noise) {
  Images images({m, 0, m}, contrast, noise);
  for (int i = 0; i < images.patterns.n(); ++i)
    for (int y = 0; y < window.h; ++y)
      for (int x = 0; x < window.w; ++x) {
        const double radius = std::hypot(y - window.h / 2, x - window.w / 2);
        images.patterns(i, y, x) *= (radius < 15 ? 1000 : 1) / beam(y, x);
      }
  return images;
}

TEST(FeatureMotion, OfShadowsIsFoundInBothDirections) {
  for (const double m : {0.7, 1.3, -1.3, -2.2}) {
    const Images images = cone(m, 0.4, 0.3);
    const FeatureMotion found =
        shadow_motion(images.patterns, images.positions_px,
                      spread_pairs(images.positions_px, window, apart_in_shadows), 1);
    EXPECT_NEAR(found.yy / m, 1, 0.05);
    EXPECT_EQ(found.xx, found.yy);
    EXPECT_GT(found.correlation, 1.5 * found.flat_correlation) << m;
    // A ray through the edge of the cone, 15 pixels, meets the sample 15 / m pixels off.
    const double defocus = defocus_m(found, 64, 1e-9, 2e-12);
    const double frequency_per_m = 15 / (64 * 1e-9);
    EXPECT_NEAR(2e-12 * defocus * frequency_per_m, 15 / found.yy * 1e-9, 1e-12);
  }
}

TEST(FeatureMotion, OfShadowsIsNotClearWhereNothingMoves) {
  const Images images = cone(0, 0.4, 0.3);
  const FeatureMotion found =
      shadow_motion(images.patterns, images.positions_px,
                    spread_pairs(images.positions_px, window, apart_in_shadows), 1);
  EXPECT_LT(found.correlation, 0.04);
}

TEST(FeatureMotion, PairsReachNeighboursAndFartherOnes) {
  const Images images({}, 0, 0);
  double nearest = 1e9;
  double farthest = 0;
  for (const auto& [first, second] : spread_pairs(images.positions_px, window, apart_in_shadows)) {
    ASSERT_LT(first, second);
    const Vec2 apart = images.positions_px[first] - images.positions_px[second];
    nearest = std::min(nearest, std::hypot(apart.y, apart.x));
    farthest = std::max(farthest, std::hypot(apart.y, apart.x));
  }
  EXPECT_LT(nearest, 3);
  EXPECT_NEAR(farthest, 0.12 * 64, 1.5);
  EXPECT_TRUE(spread_pairs({{1, 2}}, window, apart_in_shadows).empty());
}

/// A ray at height r of a wave of curvature C comes from r - distance C r: the sample there is seen
/// at r.
TEST(FeatureMotion, SaysTheWavesCurvature) {
  const FeatureMotion motion{1.3, 0.1, 0.8};
  const double distance_m = 5e-3;
  const Curvature curvature = curvature_on_detector(motion, distance_m);
  for (const Vec2 seen : {Vec2{1, 0}, Vec2{0, 1}, Vec2{0.3, -2}}) {
    const Vec2 slope{curvature.yy_per_m * seen.y + curvature.yx_per_m * seen.x,
                     curvature.yx_per_m * seen.y + curvature.xx_per_m * seen.x};
    const Vec2 from = seen - distance_m * slope;
    EXPECT_NEAR(motion.yy * from.y + motion.yx * from.x, seen.y, 1e-12);
    EXPECT_NEAR(motion.yx * from.y + motion.xx * from.x, seen.x, 1e-12);
  }
}

}  // namespace
}  // namespace tessera::optics

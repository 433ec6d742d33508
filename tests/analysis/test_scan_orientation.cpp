// A phase that is known, scanned at an angle that is known.
#include <cmath>

#include <gtest/gtest.h>

#include "analysis/scan_orientation.hpp"

namespace tessera::analysis {
namespace {

const Shape2 raster{40, 30};

/// Gradient of a smooth phase without symmetry at a place of the detector's axes.
Vec2 gradient(Vec2 at) {
  return {std::cos(0.31 * at.y + 0.2 * at.x) + 0.4 * std::cos(0.23 * at.y),
          0.2 / 0.31 * std::cos(0.31 * at.y + 0.2 * at.x) - 0.7 * std::sin(0.37 * at.x)};
}

/// Centres of mass of a raster turned by `rotation_rad`, from +x towards +y.
std::vector<Vec2> centres(double rotation_rad, bool transposed) {
  std::vector<Vec2> all;
  const double c = std::cos(rotation_rad);
  const double s = std::sin(rotation_rad);
  for (int y = 0; y < raster.h; ++y)
    for (int x = 0; x < raster.w; ++x) {
      const Vec2 found = gradient({s * x + c * y, c * x - s * y});
      all.push_back(transposed ? Vec2{found.x, found.y} : found);
    }
  return all;
}

TEST(ScanOrientation, IsFoundUpToHalfATurn) {
  for (const bool transposed : {false, true})
    for (const double rotation : {0.0, 0.4, -1.1, 2.2}) {
      const ScanOrientation found = find_scan_orientation(centres(rotation, transposed), raster);
      EXPECT_EQ(found.transpose, transposed) << rotation;
      EXPECT_NEAR(std::sin(found.rotation_rad - rotation), 0, 0.01) << rotation;
      EXPECT_LT(found.curl_share, 0.01);
    }
}

TEST(ScanOrientation, OfNothingIsNotKnown) {
  EXPECT_EQ(find_scan_orientation(std::vector<Vec2>(1200), raster).curl_share, 1);
  std::vector<Vec2> noise;
  std::uint32_t state = 1;
  const auto draw = [&] {
    state = 1664525 * state + 1013904223;
    return (state >> 8) / double{1 << 24};
  };
  for (int i = 0; i < 1200; ++i) noise.push_back({draw(), draw()});
  EXPECT_GT(find_scan_orientation(noise, raster).curl_share, 0.4);
}

}  // namespace
}  // namespace tessera::analysis

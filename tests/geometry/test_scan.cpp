#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <gtest/gtest.h>

#include "tessera/geometry/windows.hpp"

namespace tessera::geometry {
namespace {

constexpr double step_m = 50e-9;

double distance_m(Vec2 a, Vec2 b) {
  return std::hypot(a.y - b.y, a.x - b.x);
}

double nearest_m(const std::vector<Vec2>& positions_m, std::size_t i) {
  double nearest = std::numeric_limits<double>::infinity();
  for (std::size_t j = 0; j < positions_m.size(); ++j) {
    if (j != i) nearest = std::min(nearest, distance_m(positions_m[i], positions_m[j]));
  }
  return nearest;
}

TEST(RasterScan, RunsAlongXFirst) {
  const std::vector<Vec2> positions_m = raster_scan(2, 3, {10, 1});
  const std::vector<Vec2> expected{{0, 0}, {0, 1}, {0, 2}, {10, 0}, {10, 1}, {10, 2}};
  EXPECT_EQ(positions_m, expected);
}

TEST(RasterScan, TurnsFromXTowardsY) {
  const std::vector<Vec2> positions_m = raster_scan(2, 2, {10, 1}, std::numbers::pi / 2);
  EXPECT_LT(distance_m(positions_m[1], {1, 0}), 1e-14);    // the step along x now points along +y
  EXPECT_LT(distance_m(positions_m[2], {0, -10}), 1e-14);  // and the one along y along -x
}

TEST(FermatScan, FillsADiscEvenly) {
  const std::vector<Vec2> positions_m = fermat_scan(500, step_m);
  ASSERT_EQ(positions_m.size(), 500u);
  EXPECT_EQ(positions_m[0], (Vec2{0, 0}));
  double radius_m = 0;
  for (std::size_t i = 0; i < positions_m.size(); ++i) {
    radius_m = std::max(radius_m, std::hypot(positions_m[i].y, positions_m[i].x));
    EXPECT_GT(nearest_m(positions_m, i), 0.5 * step_m) << i;
    EXPECT_LT(nearest_m(positions_m, i), 1.2 * step_m) << i;
  }
  EXPECT_NEAR(std::numbers::pi * radius_m * radius_m / (500 * step_m * step_m), 1, 0.01);
}

TEST(ConcentricScan, RingsAndTheirPositionsAreAStepApart) {
  const std::vector<Vec2> positions_m = concentric_scan(400, step_m);
  ASSERT_EQ(positions_m.size(), 400u);
  EXPECT_EQ(positions_m[0], (Vec2{0, 0}));
  for (std::size_t i = 1; i < positions_m.size(); ++i) {
    const double ring = std::hypot(positions_m[i].y, positions_m[i].x) / step_m;
    EXPECT_NEAR(ring, std::round(ring), 1e-9);
    EXPECT_GE(ring, std::hypot(positions_m[i - 1].y, positions_m[i - 1].x) / step_m - 1e-9);
    EXPECT_NEAR(nearest_m(positions_m, i) / step_m, 1, 0.1) << i;
  }
}

TEST(Scans, MayBeEmpty) {
  EXPECT_TRUE(raster_scan(0, 5, {1, 1}).empty());
  EXPECT_TRUE(fermat_scan(0, 1).empty());
  EXPECT_TRUE(concentric_scan(0, 1).empty());
}

TEST(Jitter, IsUniformAndKeepsItsBounds) {
  constexpr int n = 20000;
  std::vector<Vec2> moved(n);
  jitter(moved, 2.0, 5);
  double sum = 0, sum_of_squares = 0, sum_of_products = 0;
  for (const auto& [y, x] : moved) {
    EXPECT_LE(std::max(std::abs(y), std::abs(x)), 2.0);
    sum += y + x;
    sum_of_squares += y * y + x * x;
    sum_of_products += y * x;
  }
  EXPECT_NEAR(sum / (2 * n), 0, 0.03);
  EXPECT_NEAR(sum_of_squares / (2 * n), 4.0 / 3, 0.03);
  EXPECT_NEAR(sum_of_products / n, 0, 0.05);  // y and x are drawn apart
}

TEST(Jitter, BelongsToTheIndexAndTheSeed) {
  std::vector<Vec2> many(10, {1, 2}), few(3, {1, 2}), other_seed(3, {1, 2});
  jitter(many, 1e-3, 5);
  jitter(few, 1e-3, 5);
  jitter(other_seed, 1e-3, 6);
  EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
  EXPECT_NE(few, other_seed);
}

}  // namespace
}  // namespace tessera::geometry

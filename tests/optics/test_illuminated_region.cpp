// Where light falls on the object.

#include <algorithm>
#include <cmath>
#include <complex>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "optics/illuminated_region.hpp"
#include "support/filtered_noise.hpp"

namespace tessera::optics {
namespace {

TEST(IlluminatedRegion, IsWhereAPlainSumOverWindowsSaysSo) {
  const Shape2 shape{40, 53};
  WaveStack probe(2, {9, 12});
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  for (auto& value : probe) value = std::complex<double>(normal(random), normal(random));
  const std::vector<Vec2> corners{{0, 0}, {3.4, 7.6}, {20.2, 30.9}, {31, 41}, {20.2, 31.1}};
  ImageStack<double> sum_of_windows(1, shape);
  for (const Vec2& corner : corners)
    for (int m = 0; m < 2; ++m)
      for (int y = 0; y < 9; ++y)
        for (int x = 0; x < 12; ++x)
          sum_of_windows(0, static_cast<int>(std::lround(corner.y)) + y,
                         static_cast<int>(std::lround(corner.x)) + x) += std::norm(probe(m, y, x));
  const double max = *std::max_element(sum_of_windows.begin(), sum_of_windows.end());
  const PixelSet region = illuminated_region(shape, corners, probe, 1, 0.2);
  for (int y = 0; y < shape.h; ++y)
    for (int x = 0; x < shape.w; ++x)
      EXPECT_EQ(region(0, y, x) != 0, sum_of_windows(0, y, x) >= 0.2 * max) << y << ", " << x;
  EXPECT_THROW(illuminated_region(shape, std::vector<Vec2>{{33, 0}}, probe), std::exception);
}

/// Few windows are added up, many folded by transforms.
TEST(Illumination, OfFewAndManyWindowsIsTheirSum) {
  const Shape2 shape{61, 70};
  const WaveStack probe = testing::filtered_noise({16, 16}, 3, [](double) { return 1.0; });
  std::mt19937 random(7);
  std::uniform_int_distribution<int> y_at(0, 45);
  std::uniform_int_distribution<int> x_at(0, 54);
  for (const int n : {30, 30000}) {
    std::vector<Vec2> corners;
    ImageStack<double> sum(1, shape);
    for (int i = 0; i < n; ++i) {
      const Pixel at{y_at(random), x_at(random)};
      corners.push_back(as_vec2(at));
      for (int y = 0; y < 16; ++y)
        for (int x = 0; x < 16; ++x) sum(0, at.y + y, at.x + x) += std::norm(probe(0, y, x));
    }
    const double max = *std::max_element(sum.begin(), sum.end());
    const Illumination light(shape, corners, probe);
    const Box box{{7, 3}, {52, 70}};
    const ImageStack<double> found = light.in(box);
    for (int y = 0; y < box.height(); ++y)
      for (int x = 0; x < box.width(); ++x)
        ASSERT_NEAR(found(0, y, x), sum(0, 7 + y, 3 + x), 1e-12 * max) << y << ", " << x;
  }
}

}  // namespace
}  // namespace tessera::optics

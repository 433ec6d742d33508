#include <random>

#include <gtest/gtest.h>

#include "tessera/optics/host_fft.hpp"

#include "support/plain_model.hpp"

namespace tessera::optics {
namespace {

WaveStack random_waves(int n, Shape2 shape) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  WaveStack waves(n, shape);
  for (testing::Complex& value : waves) value = {normal(random), normal(random)};
  return waves;
}

/// By the definition, in all its slowness.
WaveStack transformed_by_definition(const WaveStack& waves, int sign) {
  WaveStack made(waves.n(), waves.shape());
  const auto [h, w] = waves.shape();
  for (int i = 0; i < waves.n(); ++i)
    for (int k = 0; k < h * w; ++k)
      for (int x = 0; x < h * w; ++x)
        made.image(i)[k] +=
            waves.image(i)[x] *
            std::polar(
                1 / std::sqrt(1.0 * h * w),
                sign * 2 * M_PI * (1.0 * (k / w) * (x / w) / h + 1.0 * (k % w) * (x % w) / w));
  return made;
}

TEST(PlainModel, ItsTransformIsTheDefinition) {
  for (const Shape2 shape : {Shape2{8, 8}, Shape2{9, 7}, Shape2{12, 10}, Shape2{1, 2}})
    for (const int sign : {-1, +1}) {
      const WaveStack waves = random_waves(2, shape);
      EXPECT_LT(testing::relative_difference(testing::dft(waves, sign),
                                             transformed_by_definition(waves, sign)),
                1e-14);
    }
}

TEST(HostFft, AgreesWithTheDefinition) {
  const WaveStack waves = random_waves(2, {6, 9});
  WaveStack transformed = waves;
  forward_2d(transformed);
  EXPECT_LT(testing::relative_difference(transformed, testing::dft(waves, -1)), 1e-13);
  inverse_2d(transformed);
  EXPECT_LT(testing::relative_difference(transformed, waves), 1e-13);
}

TEST(HostFft, CentredMovesTheOriginToTheMiddle) {
  ImageStack<int> corner(1, {5, 4});
  corner(0, 0, 0) = 1;
  EXPECT_EQ(centred(corner)(0, 2, 2), 1);
}

}  // namespace
}  // namespace tessera::optics

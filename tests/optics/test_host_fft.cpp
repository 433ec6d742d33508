#include "tessera/optics/host_fft.hpp"

#include <random>

#include <gtest/gtest.h>

#include "support/reference.hpp"

namespace tessera::optics {
namespace {

WaveStack random_waves(int n, Shape2 shape) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  WaveStack waves(n, shape);
  for (testing::Complex& value : waves) value = {normal(random), normal(random)};
  return waves;
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

#include <algorithm>
#include <numeric>

#include <gmock/gmock.h>

#include "decomposition/even_sample.hpp"

namespace tessera::decomposition {
namespace {

std::vector<Pixel> raster(int side) {
  std::vector<Pixel> corner;
  for (int i = 0; i < side * side; ++i) corner.push_back({10 * (i / side), 10 * (i % side)});
  return corner;
}

std::vector<int> all_of(std::size_t n) {
  std::vector<int> all(n);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

TEST(EvenSample, IsAllOfAFewAndASixteenthOfMany) {
  for (const auto& [side, n] : {std::pair{15, 0}, std::pair{16, 128}, std::pair{20, 134},
                                std::pair{32, 128}, std::pair{64, 256}}) {
    const std::vector<Pixel> corner = raster(side);
    const std::vector<bool> sample = even_sample(all_of(corner.size()), corner, 1);
    EXPECT_EQ(std::ranges::count(sample, true), n) << side << " x " << side;
  }
}

TEST(EvenSample, HasPositionsEverywhere) {
  constexpr int side = 64;
  const std::vector<bool> sample = even_sample(all_of(side * side), raster(side), 1);
  std::vector<int> in_block(16 * 16 / 4);
  for (int i = 0; i < side * side; ++i)
    if (sample[i]) ++in_block[i / side / 8 * 8 + i % side / 8];
  EXPECT_THAT(in_block, ::testing::Each(4)) << "of 8 x 8 positions";
}

TEST(EvenSample, IsOfThosePositionsThatTakePart) {
  const std::vector<Pixel> corner = raster(40);
  std::vector<int> fitted;
  for (int i = 0; i < 1600; ++i)
    if (i % 3 != 0) fitted.push_back(i);
  const std::vector<bool> sample = even_sample(fitted, corner, 1);
  EXPECT_EQ(std::ranges::count(sample, true), 134);  // of 1066 every eighth
  for (int i = 0; i < 1600; i += 3) EXPECT_FALSE(sample[i]) << i;
}

}  // namespace
}  // namespace tessera::decomposition

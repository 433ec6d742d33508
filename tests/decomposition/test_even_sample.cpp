#include <algorithm>
#include <numeric>

#include <gmock/gmock.h>

#include "decomposition/even_sample.hpp"

namespace tessera::decomposition {
namespace {

std::vector<Pixel> raster(int side) {
  std::vector<Pixel> corner;
  corner.reserve(static_cast<std::size_t>(side) * side);
  for (int i = 0; i < side * side; ++i) corner.push_back({10 * (i / side), 10 * (i % side)});
  return corner;
}

BatchSchedule batches(std::vector<int> positions, std::span<const Pixel> corner, int batch_size,
                      BatchOrder order = BatchOrder::spread) {
  return {std::move(positions), corner, batch_size, order, 5};
}

std::vector<int> all_of(std::span<const Pixel> corner) {
  std::vector<int> all(corner.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

TEST(EvenSample, IsAllOfAFewAndASixteenthOfMany) {
  for (const auto& [side, n] : {std::pair{15, 0}, std::pair{16, 128}, std::pair{20, 134},
                                std::pair{32, 128}, std::pair{64, 256}}) {
    const std::vector<Pixel> corner = raster(side);
    const std::vector<bool> sample =
        even_sample(batches(all_of(corner), corner, 0), corner, 128, 1);
    EXPECT_EQ(std::ranges::count(sample, true), n) << side << " x " << side;
  }
}

TEST(EvenSample, HasPositionsEverywhere) {
  constexpr int side = 64;
  const std::vector<Pixel> corner = raster(side);
  const std::vector<bool> sample = even_sample(batches(all_of(corner), corner, 0), corner, 128, 1);
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
  const std::vector<bool> sample = even_sample(batches(fitted, corner, 0), corner, 128, 1);
  EXPECT_EQ(std::ranges::count(sample, true), 134);  // of 1066 every eighth
  for (int i = 0; i < 1600; i += 3) EXPECT_FALSE(sample[i]) << i;
}

TEST(EvenSample, IsAsLargeAPartOfEveryBatch) {
  const std::vector<Pixel> corner = raster(40);
  for (const BatchOrder order : {BatchOrder::spread, BatchOrder::compact}) {
    const BatchSchedule schedule = batches(all_of(corner), corner, 33, order);
    const std::vector<bool> sample = even_sample(schedule, corner, 8, 1);
    for (int id = 0; id < schedule.n_batches(); ++id) {
      const auto n = std::ranges::count_if(schedule.batch(id), [&](int i) { return sample[i]; });
      EXPECT_EQ(n, (std::ssize(schedule.batch(id)) + 3) / 4);
    }
  }
  EXPECT_TRUE(
      even_sample(batches(all_of(corner), corner, 33, BatchOrder::random), corner, 8, 1).empty());
}

}  // namespace
}  // namespace tessera::decomposition

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/base/error.hpp"
#include "tessera/decomposition/batch_schedule.hpp"

#include "decomposition/random_scans.hpp"
#include "support/allocations.hpp"

namespace tessera::decomposition {
namespace {

using tessera::testing::n_allocations;
using tessera::testing::random_scan;
using tessera::testing::RandomScan;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Batches = std::vector<std::vector<int>>;

Batches batches_of(const BatchSchedule& schedule) {
  Batches batches;
  for (int id = 0; id < schedule.n_batches(); ++id) {
    const std::span<const int> batch = schedule.batch(id);
    batches.emplace_back(batch.begin(), batch.end());
  }
  return batches;
}

std::vector<int> order_of(const BatchSchedule& schedule) {
  return {schedule.visiting_order().begin(), schedule.visiting_order().end()};
}

/// Corners of a raster in scan order.
std::vector<Pixel> raster_corners(int rows, int columns) {
  std::vector<Pixel> corner;
  for (int i = 0; i < rows * columns; ++i) corner.push_back({i / columns, i % columns});
  return corner;
}

std::vector<int> all_positions(std::size_t n) {
  std::vector<int> positions(n);
  std::iota(positions.begin(), positions.end(), 0);
  return positions;
}

class Orders : public ::testing::TestWithParam<BatchOrder> {
 protected:
  BatchSchedule schedule(int n_positions, int batch_size, std::uint64_t seed = 1) const {
    return {all_positions(n_positions), raster_corners(n_positions, 1), batch_size, GetParam(),
            seed};
  }
};

TEST_P(Orders, BatchesPartitionThePositionsInEqualShares) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const RandomScan scan = random_scan(seed);
    std::vector<int> positions = all_positions(scan.grid.corner.size());
    std::erase_if(positions, [](int i) { return i % 5 == 4; });  // held out
    const int batch_size = static_cast<int>(random_bits(seed, 99) % 40);
    BatchSchedule schedule(positions, scan.grid.corner, batch_size, GetParam(), seed);
    const int n = static_cast<int>(positions.size());
    EXPECT_EQ(schedule.n_batches(), batch_size == 0 ? 1 : (n + batch_size - 1) / batch_size);
    for (int epoch = 0; epoch < 2; ++epoch) {
      schedule.start_epoch(epoch);
      std::vector<int> seen;
      for (const auto& batch : batches_of(schedule)) {
        EXPECT_TRUE(std::is_sorted(batch.begin(), batch.end()));
        EXPECT_GE(std::ssize(batch), n / schedule.n_batches());
        EXPECT_LE(std::ssize(batch), n / schedule.n_batches() + 1);
        seen.insert(seen.end(), batch.begin(), batch.end());
      }
      std::sort(seen.begin(), seen.end());
      EXPECT_EQ(seen, positions) << scan.name;
    }
  }
}

TEST_P(Orders, EveryEpochVisitsEachBatchOnceInAnotherOrder) {
  BatchSchedule s = schedule(200, 10);
  std::vector<std::vector<int>> orders;
  for (int epoch = 0; epoch < 10; ++epoch) {
    s.start_epoch(epoch);
    orders.push_back(order_of(s));
    EXPECT_TRUE(
        std::is_permutation(orders.back().begin(), orders.back().end(), all_positions(20).begin()));
  }
  std::sort(orders.begin(), orders.end());
  EXPECT_EQ(std::adjacent_find(orders.begin(), orders.end()), orders.end());
}

TEST_P(Orders, DependOnSeedAndEpochAlone) {
  BatchSchedule whole = schedule(200, 10);
  for (int epoch = 0; epoch <= 7; ++epoch) whole.start_epoch(epoch);
  BatchSchedule resumed = schedule(200, 10);
  resumed.start_epoch(7);
  EXPECT_EQ(order_of(resumed), order_of(whole));
  EXPECT_EQ(batches_of(resumed), batches_of(whole));

  BatchSchedule other_seed = schedule(200, 10, 2);
  other_seed.start_epoch(7);
  EXPECT_NE(order_of(other_seed), order_of(whole));
  EXPECT_EQ(batches_of(other_seed) == batches_of(whole), whole.fixed_members());
}

TEST_P(Orders, MembersStayWhenTheyAreFixed) {
  BatchSchedule s = schedule(200, 10);
  const Batches at_first = batches_of(s);
  s.start_epoch(1);
  EXPECT_EQ(s.fixed_members(), GetParam() != BatchOrder::random);
  EXPECT_EQ(batches_of(s) == at_first, s.fixed_members());
}

TEST_P(Orders, StartAtEpochZero) {
  BatchSchedule s = schedule(200, 10);
  const Batches at_first = batches_of(s);
  const std::vector<int> order = order_of(s);
  s.start_epoch(3);
  s.start_epoch(0);
  EXPECT_EQ(batches_of(s), at_first);
  EXPECT_EQ(order_of(s), order);
}

TEST_P(Orders, StartingAnEpochAllocatesNothing) {
  BatchSchedule s = schedule(5000, 32);
  const int before = n_allocations();
  for (int epoch = 0; epoch < 5; ++epoch) s.start_epoch(epoch);
  EXPECT_EQ(n_allocations(), before);
  batches_of(s);
  EXPECT_GT(n_allocations(), before);  // the counter counts
}

TEST_P(Orders, NoPositionsMakeNoBatches) {
  BatchSchedule s = schedule(0, 10);
  s.start_epoch(1);
  EXPECT_EQ(s.n_batches(), 0);
  EXPECT_TRUE(s.visiting_order().empty());
}

TEST_P(Orders, ANegativeBatchSizeIsRefused) {
  EXPECT_THROW(schedule(10, -1), InputError);
}

INSTANTIATE_TEST_SUITE_P(BatchSchedule, Orders,
                         ::testing::Values(BatchOrder::spread, BatchOrder::random,
                                           BatchOrder::compact));

TEST(SpreadBatches, TakeOnePositionFromEveryNeighbourhood) {
  // 16 batches of 16 on a raster of 16 x 16: one position in each of its 4 x 4 blocks, not a
  // column.
  const BatchSchedule schedule(all_positions(256), raster_corners(16, 16), 16, BatchOrder::spread,
                               1);
  for (const auto& batch : batches_of(schedule)) {
    std::set<int> blocks;
    for (const int i : batch) blocks.insert(i / 64 * 4 + i % 16 / 4);
    EXPECT_EQ(blocks.size(), 16u);
  }
}

std::size_t n_bins_of(const std::vector<int>& batch, const std::vector<std::uint16_t>& bin) {
  std::set<int> bins;
  for (const int i : batch) bins.insert(bin[i]);
  return bins.size();
}

TEST(SpreadBatches, HavePositionsOfFewBinsFromEverywhere) {
  // 8 batches of 512: eight neighbourhoods of 8 positions, blocks of 8 x 8, give 8 to each.
  std::vector<std::uint16_t> bin;
  for (std::uint64_t i = 0; i < 4096; ++i)
    bin.push_back(static_cast<std::uint16_t>(random_bits(7, i) % 256));
  const std::vector<Pixel> corner = raster_corners(64, 64);
  const BatchSchedule schedule(all_positions(4096), corner, 512, BatchOrder::spread, 1, bin);
  const BatchSchedule plain(all_positions(4096), corner, 512, BatchOrder::spread, 1);
  for (int id = 0; id < 8; ++id) {
    const std::vector<int> batch = batches_of(schedule)[id];
    EXPECT_LT(2 * n_bins_of(batch, bin), n_bins_of(batches_of(plain)[id], bin));
    std::map<int, int> in_block;
    for (const int i : batch) ++in_block[i / 512 * 8 + i % 64 / 8];
    EXPECT_EQ(in_block.size(), 64u);
    for (const auto& [block, n] : in_block) EXPECT_EQ(n, 8) << block;
  }
}

TEST(SpreadBatches, OfEqualBinsAreThoseWithoutBins) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const RandomScan scan = random_scan(seed);
    const std::size_t n = scan.grid.corner.size();
    const std::vector<std::uint16_t> bin(n, 3);
    const int batch_size = static_cast<int>(1 + random_bits(seed, 99) % n);
    EXPECT_EQ(
        batches_of({all_positions(n), scan.grid.corner, batch_size, BatchOrder::spread, 1}),
        batches_of({all_positions(n), scan.grid.corner, batch_size, BatchOrder::spread, 1, bin}))
        << scan.name;
  }
}

TEST(CompactBatches, AreBlocksOfNeighbours) {
  const std::vector<Pixel> corner = raster_corners(16, 16);
  const BatchSchedule schedule(all_positions(256), corner, 16, BatchOrder::compact, 1);
  for (const auto& batch : batches_of(schedule)) {
    Box block;
    for (const int i : batch) block = hull(block, Box::at(corner[i], {1, 1}));
    EXPECT_EQ(block.shape(), (Shape2{4, 4})) << block;
  }
}

TEST(RandomBatches, EveryPermutationIsAsLikely) {
  BatchSchedule schedule(all_positions(4), raster_corners(4, 1), 1, BatchOrder::random, 3);
  std::map<std::vector<int>, int> members, visits;
  for (int epoch = 0; epoch < 24000; ++epoch) {
    schedule.start_epoch(epoch);
    ++visits[order_of(schedule)];
    const Batches batches = batches_of(schedule);
    ++members[{batches[0][0], batches[1][0], batches[2][0], batches[3][0]}];
  }
  for (const auto& counts : {members, visits}) {
    EXPECT_EQ(counts.size(), 24u);
    for (const auto& [permutation, n] : counts) EXPECT_NEAR(n, 1000, 155);  // five deviations
  }
}

TEST(RandomBatches, AreTheSameOnEveryMachine) {
  BatchSchedule schedule(all_positions(8), raster_corners(8, 1), 2, BatchOrder::random, 1);
  schedule.start_epoch(5);
  // Computed with a separate implementation of SplitMix64, MT19937-64 and Fisher-Yates in another
  // language.
  EXPECT_THAT(order_of(schedule), ElementsAre(2, 1, 0, 3));
  EXPECT_THAT(batches_of(schedule), ElementsAre(ElementsAre(1, 4), ElementsAre(3, 6),
                                                ElementsAre(2, 7), ElementsAre(0, 5)));
}

TEST(BatchOrder, IsReadFromItsWord) {
  EXPECT_EQ(batch_order_from("spread"), BatchOrder::spread);
  EXPECT_EQ(batch_order_from("random"), BatchOrder::random);
  EXPECT_EQ(batch_order_from("compact"), BatchOrder::compact);
  try {
    batch_order_from("spraed");
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("\"spraed\" is not one of spread, random, compact"));
    EXPECT_THAT(error.what(), HasSubstr("did you mean \"spread\"?"));
  }
}

}  // namespace
}  // namespace tessera::decomposition

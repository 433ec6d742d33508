#include <set>

#include <gtest/gtest.h>

#include "tessera/base/random.hpp"

namespace tessera {
namespace {

TEST(Random, MixesAsThePublishedSplitMix64) {
  // The first outputs of the published generator from state 0.
  constexpr std::uint64_t step = 0x9e3779b97f4a7c15u;
  EXPECT_EQ(mixed(step), 0xe220a8397b1dcdafu);
  EXPECT_EQ(mixed(2 * step), 0x6e789e6aa1b965f4u);
}

TEST(Random, SeedsAndIndicesDoNotRepeatEachOther) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    for (std::uint64_t index = 0; index < 100; ++index) seen.insert(random_bits(seed, index));
  }
  EXPECT_EQ(seen.size(), 100u * 100u);
}

TEST(Random, UnitIsUniform) {
  constexpr int n = 10000;
  constexpr int n_bins = 10;
  int count[n_bins] = {};
  for (std::uint64_t i = 0; i < n; ++i) {
    const double unit = random_unit(3, i);
    ASSERT_GE(unit, 0.0);
    ASSERT_LT(unit, 1.0);
    ++count[static_cast<int>(unit * n_bins)];
  }
  for (const int c : count) EXPECT_NEAR(c, n / n_bins, 150);  // five standard deviations
}

}  // namespace
}  // namespace tessera

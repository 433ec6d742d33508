// The plan as a whole: what it adds up, what it prefers, and that its advice holds.
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "decomposition/memory_plan.hpp"

namespace tessera::decomposition {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t GB = 1'000'000'000;

MemoryNeeds random_needs(unsigned seed) {
  std::mt19937 random(seed);
  const auto bytes = [&] { return static_cast<std::int64_t>(random() % 1000) * 1'000'000; };
  return {.device = {{"object", bytes()}, {"waves", bytes()}},
          .host = {{"pieces", bytes()}},
          .n_patterns = static_cast<std::int64_t>(random() % 100'000),
          .n_chunk_patterns = 1 + static_cast<std::int64_t>(random() % 300),
          .pattern_bytes = 1 + static_cast<std::int64_t>(random() % 100'000),
          .file_chunk_bytes = bytes()};
}

/// What `place` needs, by hand.
std::pair<std::int64_t, std::int64_t> device_and_host(const MemoryNeeds& needs, PatternsIn place) {
  std::int64_t device = needs.device[0].bytes + needs.device[1].bytes;
  std::int64_t host = needs.host[0].bytes;
  const std::int64_t all = needs.n_patterns * needs.pattern_bytes;
  const std::int64_t chunk =
      std::min(needs.n_patterns, needs.n_chunk_patterns) * needs.pattern_bytes;
  if (place == PatternsIn::device) return {device + all, host};
  if (place == PatternsIn::host_memory) return {device + 2 * chunk, host + all};
  return {device + 2 * chunk, host + 2 * chunk + needs.file_chunk_bytes};
}

TEST(MemoryPlan, AddsUpEveryItem) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    const MemoryNeeds needs = random_needs(seed);
    for (const PatternsIn place : {PatternsIn::device, PatternsIn::host_memory, PatternsIn::file}) {
      const MemoryPlan plan = plan_memory(needs, place);
      const auto [device, host] = device_and_host(needs, place);
      EXPECT_EQ(total_bytes(plan.device), device);
      EXPECT_EQ(total_bytes(plan.host), host);
      EXPECT_TRUE(fits(plan, {device, host, false}));
      EXPECT_FALSE(fits(plan, {device - 1, host, false}));
      EXPECT_FALSE(fits(plan, {device, host - 1, false}));
      EXPECT_TRUE(fits(plan, {device, device + host, true}));
      EXPECT_FALSE(fits(plan, {device, device + host - 1, true}));
    }
  }
}

TEST(MemoryPlan, TakesTheBestPlaceAndMoreMemoryIsNeverWorse) {
  const auto rank_of = [](std::optional<PatternsIn> place) {
    return place ? static_cast<int>(*place) : 3;
  };
  for (unsigned seed = 0; seed < 50; ++seed) {
    const MemoryNeeds needs = random_needs(seed);
    for (const bool one_memory : {false, true})
      for (std::int64_t device = 0; device < 10 * GB; device += GB / 3)
        for (std::int64_t host = 0; host < 10 * GB; host += GB) {
          const int best = rank_of(best_place(needs, {device, host, one_memory}));
          for (int place = 0; place < std::min(best, 3); ++place)
            EXPECT_FALSE(fits(plan_memory(needs, static_cast<PatternsIn>(place)),
                              {device, host, one_memory}));
          EXPECT_LE(rank_of(best_place(needs, {device + GB, host, one_memory})), best);
          EXPECT_LE(rank_of(best_place(needs, {device, host + GB, one_memory})), best);
        }
  }
}

/// One part that every rank holds and one that the ranks share.
MemoryNeeds needs_of(int n_ranks, std::int64_t fixed, std::int64_t shared) {
  return {.device = {{"probe", fixed}, {"object", shared / n_ranks}},
          .host = {},
          .n_patterns = 0,
          .n_chunk_patterns = 1,
          .pattern_bytes = 1,
          .file_chunk_bytes = 0};
}

TEST(MemoryPlan, TheAdvisedRankCountIsTheLeastThatFits) {
  const MemoryLimits limits{10 * GB, 10 * GB, false};
  for (const int n_ranks : {1, 2, 3, 7})
    for (std::int64_t shared = 100 * GB; shared < 5000 * GB; shared += 77 * GB) {
      const auto fits_on = [&](int n) {
        return best_place(needs_of(n, 2 * GB, shared), limits).has_value();
      };
      const std::optional<int> enough = ranks_that_fit(n_ranks, 1'000'000, fits_on);
      ASSERT_TRUE(enough.has_value());
      EXPECT_TRUE(fits_on(*enough));
      EXPECT_FALSE(fits_on(*enough - 1));
      EXPECT_THAT(
          too_little_memory(needs_of(n_ranks, 2 * GB, shared), limits, enough, Known::exactly),
          HasSubstr("start " + std::to_string(*enough) + " ranks"));
      EXPECT_THAT(
          too_little_memory(needs_of(n_ranks, 2 * GB, shared), limits, enough, Known::at_least),
          AllOf(HasSubstr("a rank needs at least "),
                HasSubstr("start at least " + std::to_string(*enough) + " ranks")));
    }
}

TEST(MemoryPlan, SaysWhenNoRankCountWouldDo) {
  const MemoryLimits limits{10 * GB, 10 * GB, false};
  const auto never = [&](int n) {
    return best_place(needs_of(n, 11 * GB, 100 * GB), limits).has_value();
  };
  EXPECT_EQ(ranks_that_fit(1, 100'000, never), std::nullopt);
  EXPECT_EQ(ranks_that_fit(4, 4, [](int) { return true; }), std::nullopt);
  EXPECT_EQ(ranks_that_fit(4, 5, [](int n) { return n == 5; }), 5);
  const std::string message =
      too_little_memory(needs_of(1, 11 * GB, 100 * GB), limits, {}, Known::exactly);
  EXPECT_THAT(message, HasSubstr("111 GB of device and 0 bytes of host memory"));
  EXPECT_THAT(message, HasSubstr("may take 10 GB and 10 GB"));
  EXPECT_THAT(message, HasSubstr("object, 100 GB"));
  EXPECT_THAT(message, HasSubstr("no number of ranks would do"));
}

/// "name: bytes" of every item, and of all.
std::vector<std::string> shown(const std::vector<MemoryItem>& items) {
  std::vector<std::string> lines;
  for (const MemoryItem& item : items) lines.push_back(item.name + ": " + bytes_text(item.bytes));
  lines.push_back("all: " + bytes_text(total_bytes(items)));
  return lines;
}

TEST(MemoryPlan, ItHasEveryItemAndThePatterns) {
  const MemoryNeeds needs{.device = {{"object", 2 * GB}},
                          .host = {{"pieces", 64'000'000}},
                          .n_patterns = 65536,
                          .n_chunk_patterns = 256,
                          .pattern_bytes = 131072,
                          .file_chunk_bytes = 0};
  const MemoryPlan plan = plan_memory(needs, PatternsIn::host_memory);
  EXPECT_THAT(shown(plan.device),
              ElementsAre("object: 2 GB", "patterns of two chunks: 67.1 MB", "all: 2.07 GB"));
  EXPECT_THAT(shown(plan.host),
              ElementsAre("pieces: 64 MB", HasSubstr(": 8.59 GB"), "all: 8.65 GB"));
}

}  // namespace
}  // namespace tessera::decomposition

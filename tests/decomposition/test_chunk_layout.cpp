#include <algorithm>
#include <numeric>
#include <ranges>
#include <set>

#include <gtest/gtest.h>

#include "tessera/base/random.hpp"
#include "tessera/decomposition/chunk_layout.hpp"

#include "support/allocations.hpp"

namespace tessera::decomposition {
namespace {

/// Fifty positions with `n_shifts` different shifts, dealt into four batches, every third position
/// on the border.
class Layouts : public ::testing::TestWithParam<std::tuple<int, int, int>> {
 protected:
  static constexpr int n_positions = 50;
  static constexpr int n_batches = 4;
  Layouts() {
    for (int i = 0; i < n_positions; ++i) {
      const int k = static_cast<int>(random_bits(7, i) % n_shifts());
      shift_px_.push_back({0.1 * (k % 3), -0.01 * k});
    }
  }
  static int n_shifts() { return std::get<0>(GetParam()); }
  static int chunk_size() { return std::get<1>(GetParam()); }
  static int max_slots() { return std::get<2>(GetParam()); }
  static std::vector<int> members(int batch, bool border) {
    std::vector<int> found;
    for (int i = batch; i < n_positions; i += n_batches)
      if ((i % 3 == 0) == border) found.push_back(i);
    return found;
  }
  ChunkLayout layout() const {
    return {shift_px_, chunk_size(), max_slots(), n_batches, {.count = 2, .most_of_slot = 4}};
  }
  int n_shifts_of(int batch) const {
    std::set<std::pair<double, double>> shifts;
    for (int i = batch; i < n_positions; i += n_batches)
      shifts.emplace(shift_px_[i].y, shift_px_[i].x);
    return static_cast<int>(shifts.size());
  }
  static ChunkRange add(int batch, ChunkLayout& layout) {
    std::vector<int> border = members(batch, true);
    std::vector<int> interior = members(batch, false);
    return layout.add_batch(border, interior);
  }
  /// By chunks begin ... end - 1.
  static int n_shifts_seen(const ChunkLayout& layout, int begin, int end) {
    std::set<std::pair<double, double>> shifts;
    for (const Chunk& chunk : layout.chunks().subspan(begin, end - begin))
      for (int k = chunk.begin; k < chunk.begin + chunk.count; ++k) {
        const Vec2 shift = layout.slot_shift()[chunk.first_slot + layout.slot()[k]];
        shifts.emplace(shift.y, shift.x);
      }
    return static_cast<int>(shifts.size());
  }
  std::vector<Vec2> shift_px_;
};

TEST_P(Layouts, EveryPositionComesOnceAndSeesItsOwnShift) {
  ChunkLayout layout = this->layout();
  for (int batch = 0; batch < n_batches; ++batch)
    for (const bool border : {true, false}) {
      std::vector<int> none;
      std::vector<int> these = members(batch, border);
      const ChunkRange range = layout.add_batch(border ? these : none, border ? none : these);
      std::vector<int> visited;
      for (int c = border ? range.border_begin : range.interior_begin;
           c < (border ? range.interior_begin : range.end); ++c) {
        const Chunk& chunk = layout.chunks()[c];
        EXPECT_LE(chunk.count, chunk_size());
        for (int k = chunk.begin; k < chunk.begin + chunk.count; ++k) {
          visited.push_back(layout.order()[k]);
          EXPECT_EQ(layout.slot_shift()[chunk.first_slot + layout.slot()[k]],
                    shift_px_[layout.order()[k]]);
        }
      }
      std::sort(visited.begin(), visited.end());
      EXPECT_EQ(visited, members(batch, border));
    }
}

TEST_P(Layouts, SlotsOfAChunkFollowOneAnotherAndAreFew) {
  ChunkLayout layout = this->layout();
  for (int batch = 0; batch < n_batches; ++batch) {
    const ChunkRange range = add(batch, layout);
    for (int c = range.border_begin; c < range.end; ++c) {
      const Chunk& chunk = layout.chunks()[c];
      EXPECT_LE(chunk.n_slots, std::min(max_slots(), n_shifts_of(batch)));
      const auto slot = layout.slot().subspan(chunk.begin, chunk.count);
      EXPECT_TRUE(std::is_sorted(slot.begin(), slot.end()));
      EXPECT_EQ(slot.front(), chunk.seen_begin);
      EXPECT_EQ(slot.back() + 1, chunk.seen_end);
      EXPECT_LE(chunk.seen_end, chunk.n_slots);
    }
  }
}

TEST_P(Layouts, ChunksThatShareSlotsAgreeAndAreAsManyAsFit) {
  ChunkLayout layout = this->layout();
  for (int batch = 0; batch < n_batches; ++batch) {
    const ChunkRange range = add(batch, layout);
    const int n_members = layout.chunks()[range.end - 1].begin +
                          layout.chunks()[range.end - 1].count -
                          layout.chunks()[range.border_begin].begin;
    // Positions that share no shift share no slots.
    const bool alone = n_shifts_of(batch) == n_members;
    const bool fits = n_shifts_of(batch) <= max_slots() && !alone;
    for (int begin = range.border_begin, end = begin; begin < range.end; begin = end) {
      const Chunk& first = layout.chunks()[begin];
      int n_sharing = 0;
      for (; end < range.end && layout.chunks()[end].first_slot == first.first_slot; ++end)
        n_sharing += layout.chunks()[end].count;
      for (int c = begin; c < end; ++c) {
        const Chunk& chunk = layout.chunks()[c];
        EXPECT_EQ(chunk.n_slots, first.n_slots);
        EXPECT_EQ(chunk.n_sharing, n_sharing);
        EXPECT_EQ(chunk.begins_slots, c == begin);
        EXPECT_EQ(chunk.ends_slots, c + 1 == end);
        const auto y_of = [&](int slot) { return layout.slot_shift()[slot].y; };
        EXPECT_EQ(
            chunk.ends_shift_y,
            c + 1 == end && (end == range.end || y_of(layout.chunks()[end].first_slot) !=
                                                     y_of(first.first_slot + first.n_slots - 1)));
      }
      EXPECT_EQ(first.n_slots, n_shifts_seen(layout, begin, end));
      if (fits) {
        EXPECT_EQ(n_sharing, n_members);
      } else if (alone) {
        EXPECT_EQ(end, begin + 1);
      } else if (end < range.end && end != range.interior_begin) {
        EXPECT_GT(n_shifts_seen(layout, begin, end + 1), max_slots()) << "room for one more";
      }
    }
  }
}

TEST_P(Layouts, NothingIsAllocatedOnceMade) {
  ChunkLayout layout = this->layout();
  for (int epoch = 0; epoch < 2; ++epoch) {
    layout.clear();
    for (int batch = 0; batch < n_batches; ++batch) {
      std::vector<int> border = members(batch, true);
      std::vector<int> interior = members(batch, false);
      const int before = testing::n_allocations();
      layout.add_batch(border, interior);
      EXPECT_EQ(testing::n_allocations(), before);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Layouts,
                         ::testing::Values(std::tuple{1, 4, 4}, std::tuple{6, 4, 4},
                                           std::tuple{6, 4, 6}, std::tuple{6, 1, 1},
                                           std::tuple{6, 2, 3}, std::tuple{40, 1, 1},
                                           std::tuple{40, 5, 9}, std::tuple{40, 5, 64}));

TEST(ChunkLayout, FewPositionsAreAllBorder) {
  std::vector<int> border{3, 5};
  std::vector<int> interior{1, 2};
  join_if_few(4, border, interior);
  EXPECT_EQ(std::pair(border.size(), interior.size()), (std::pair<std::size_t, std::size_t>(2, 2)));
  join_if_few(5, border, interior);
  EXPECT_EQ(border, (std::vector{3, 5, 1, 2}));
  EXPECT_TRUE(interior.empty());
  std::vector<int> none;
  interior = {4};
  join_if_few(5, none, interior);
  EXPECT_EQ(interior, std::vector{4}) << "nothing travels";
}

/// All positions, of these shifts, as one batch.
ChunkLayout lay_out(const std::vector<Vec2>& shifts, int chunk_size, int max_slots,
                    const Lanes& lanes) {
  ChunkLayout layout(shifts, chunk_size, max_slots, 1, lanes);
  std::vector<int> positions(shifts.size());
  std::iota(positions.begin(), positions.end(), 0);
  layout.add_batch({}, positions);
  return layout;
}

/// Two slots of six, three lanes of four: in every step all are within three of twelve positions.
TEST(ChunkLayout, LanesGoThroughTheTileSideBySide) {
  std::vector<Vec2> shifts;
  for (int i = 0; i < 12; ++i) shifts.push_back({i % 2 * 0.5, 0});
  const ChunkLayout layout = lay_out(shifts, 12, 2, {.count = 3});
  const std::vector<int> lanes_one_after_another{0, 4, 8, 10, 2, 6, 5, 9, 1, 3, 7, 11};
  EXPECT_TRUE(std::ranges::equal(layout.order(), lanes_one_after_another));
}

/// Three slots of 16, two lanes of 24: both are at the same slot, and at neighbours of it.
TEST(ChunkLayout, LanesShareSlotsThatAreMoreThanLanesAndHaveManyPlaces) {
  std::vector<Vec2> shifts;
  for (int i = 0; i < 48; ++i) shifts.push_back({i % 3 * 0.25, 0});
  const ChunkLayout layout = lay_out(shifts, 48, 3, {.count = 2, .most_of_slot = 4});
  ASSERT_TRUE(std::ranges::is_permutation(layout.order(), std::views::iota(0, 48)));
  for (int step = 0; step < 24; ++step) {
    EXPECT_EQ(layout.slot()[step], step / 8);
    EXPECT_EQ(layout.slot()[24 + step], step / 8);
    EXPECT_EQ(layout.order()[24 + step] - layout.order()[step], 3) << "at step " << step;
    EXPECT_EQ(layout.order()[step], step / 8 + 6 * (step % 8));
  }
}

/// Two chunks of neighbours, three lanes of two.
TEST(ChunkLayout, LanesGoThroughTheTileSideBySideWhereEachPositionHasItsOwnShift) {
  std::vector<Vec2> shifts;
  for (int i = 0; i < 12; ++i) shifts.push_back({0.5 - 0.07 * (5 * i % 12), 0});
  const ChunkLayout layout = lay_out(shifts, 6, 12, {.count = 3});
  const std::vector<int> lanes_one_after_another{0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11};
  EXPECT_TRUE(std::ranges::equal(layout.order(), lanes_one_after_another));
  for (int i = 0; i < 12; ++i) EXPECT_EQ(layout.slot()[i], i % 6);
}

TEST(ChunkLayout, NoPositionsMakeNoChunks) {
  ChunkLayout layout({}, 4, 4, 3);
  const ChunkRange range = layout.add_batch({}, {});
  EXPECT_EQ(range.border_begin, range.end);
  EXPECT_TRUE(layout.slot_shift().empty());
}

TEST(ChunkLayout, FewerSlotsThanAChunkMayNeedAreRefused) {
  const std::vector<Vec2> shifts{{0, 0}, {0, 0.25}, {0.25, 0}, {0.5, 0.5}};
  EXPECT_THROW(ChunkLayout(shifts, 4, 3, 1), std::invalid_argument);
  EXPECT_NO_THROW(ChunkLayout(std::span(shifts).first(3), 4, 3, 1)) << "three shifts, three slots";
}

/// Forty positions of five shifts as one batch, in the order in which two lanes compute them.
std::vector<int> order_in_lanes(int chunk_size, int shifted_below) {
  std::vector<Vec2> shifts(40);
  for (int i = 0; i < 40; ++i) shifts[i] = {0.1 * (i * 7 % 5), 0};
  ChunkLayout layout(shifts, chunk_size, 40, 1, {.count = 2, .shifted_below = shifted_below});
  std::vector<int> border;
  std::vector<int> interior(40);
  std::iota(interior.begin(), interior.end(), 0);
  layout.add_batch(border, interior);
  for (const Chunk& chunk : layout.chunks()) {
    EXPECT_EQ(chunk.n_slots, 5);
    for (int k = chunk.begin; k < chunk.begin + chunk.count; ++k)
      EXPECT_EQ(layout.slot_shift()[chunk.first_slot + layout.slot()[k]],
                shifts[layout.order()[k]]);
  }
  std::vector<int> order;
  for (int k = 0; k < 20; ++k)
    for (const int lane : {0, 1}) order.push_back(layout.order()[20 * lane + k]);
  return order;
}

TEST(ChunkLayout, ABatchWithoutSlotsFollowsTheScan) {
  const std::vector<int> by_position = order_in_lanes(40, 9);
  EXPECT_TRUE(std::is_sorted(by_position.begin(), by_position.end()));
  const std::vector<int> by_slot = order_in_lanes(40, 8);
  EXPECT_FALSE(std::is_sorted(by_slot.begin(), by_slot.end()));
  EXPECT_EQ(order_in_lanes(39, 9), order_in_lanes(39, 0));  // two chunks share their slots
}

}  // namespace
}  // namespace tessera::decomposition

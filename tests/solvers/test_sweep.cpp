#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/base/text.hpp"
#include "tessera/solvers/sweep.hpp"

#include "support/world.hpp"

namespace tessera::solvers {
namespace {

using tessera::testing::world;

/// Forty positions, of which this "rank" holds every third; every other one of these on the border.
class SweepTest : public ::testing::TestWithParam<decomposition::BatchOrder> {
 protected:
  static constexpr int n_scan = 40;
  static constexpr int chunk_size = 2;
  SweepTest() : corner_(n_scan) {
    for (int i = 0; i < n_scan; ++i) corner_[i] = {i / 8 * 5, i % 8 * 5};
    for (int i = 0; i < n_scan; i += 3) mine_.push_back(i);
    for (const int i : mine_) subpixel_.push_back({0.25 * (i % 2), -0.5});
    for (std::size_t i = 0; i < mine_.size(); ++i) on_border_.push_back(i % 2 == 0);
    near_ = {{3, 3}, std::vector<int>(n_scan), corner_, std::vector<int>(n_scan)};
    std::iota(near_.positions.begin(), near_.positions.end(), 0);
  }
  physics::ScanTile tile() const {
    physics::ScanTile made;
    made.order = device::DeviceView<int*>("order", mine_.size());
    made.slot = device::DeviceView<int*>("slot", mine_.size());
    made.slot_shift = device::DeviceView<Real* [2]>("slot_shift", mine_.size());
    return made;
  }
  /// Windows of 3 x 3 that do not touch, seen by a rank that holds the first four rows of them.
  ScanShare share() const { return {mine_, on_border_, subpixel_, near_, held_out_}; }
  std::vector<Pixel> corner_;
  std::vector<Vec2> subpixel_;
  std::vector<int> mine_;
  std::vector<bool> on_border_;
  decomposition::NearWindows near_;
  const std::vector<int> held_out_{6, 7};
};

TEST_P(SweepTest, VisitsEachOfItsPositionsOnceAndBorderOnesFirst) {
  std::vector<int> fitted(n_scan);
  std::iota(fitted.begin(), fitted.end(), 0);
  fitted.erase(fitted.begin() + 6, fitted.begin() + 8);  // of these, position 6 is one of mine
  const auto transport = halo::make_transport("auto", world());
  halo::HaloExchange halo({}, 1, *transport);
  const physics::ScanTile tile = this->tile();
  Sweep sweep({fitted, corner_, 12, GetParam(), 5}, share(), chunk_size, chunk_size, tile, halo,
              *transport);
  for (int epoch = 0; epoch < 3; ++epoch) {
    const std::span<const Batch> batches = sweep.start_epoch({}, epoch);
    const Kokkos::HostSpace host;
    const auto order = Kokkos::create_mirror_view_and_copy(host, tile.order);
    const auto slot = Kokkos::create_mirror_view_and_copy(host, tile.slot);
    const auto slot_shift = Kokkos::create_mirror_view_and_copy(host, tile.slot_shift);
    std::vector<int> visits(mine_.size(), 0);
    const auto visit = [&](std::span<const physics::Chunk> chunks, bool border) {
      for (const physics::Chunk& chunk : chunks) {
        EXPECT_LE(chunk.count, chunk_size);
        for (int i = chunk.begin; i < chunk.begin + chunk.count; ++i) {
          const int local = order(i);
          ++visits[local];
          EXPECT_EQ(on_border_[local], border);
          const int shift = chunk.first_slot + slot(i);
          EXPECT_EQ(slot_shift(shift, 0), Real(subpixel_[local].y));
          EXPECT_EQ(slot_shift(shift, 1), Real(subpixel_[local].x));
        }
      }
    };
    for (const Batch& batch : batches) {
      visit(batch.border, true);
      visit(batch.interior, false);
    }
    for (std::size_t i = 0; i < mine_.size(); ++i)
      EXPECT_EQ(visits[i], mine_[i] == 6 ? 0 : 1) << "position " << mine_[i];
    for (const Batch& batch : sweep.start_held_out()) {
      visit(batch.border, true);
      visit(batch.interior, false);
      EXPECT_EQ(batch.touched.count, 0);
    }
    EXPECT_EQ(sweep.pass().chunks.size(), 1u);
    EXPECT_EQ(visits, std::vector<int>(mine_.size(), 1));
    // Which takes their room: the next epoch finds its batches all the same.
    const std::vector<int> chosen{1, 2, 7};
    std::vector<int> visited;
    for (const Batch& batch : sweep.start_chosen({}, chosen)) {
      EXPECT_EQ(batch.n_positions(), 3);
      EXPECT_EQ(batch.touched.count, 0);
      const auto its_order = Kokkos::create_mirror_view_and_copy(host, tile.order);
      for (int i = 0; i < batch.n_positions(); ++i)
        visited.push_back(its_order(batch.first_place() + i));
    }
    EXPECT_EQ(sweep.pass().chunks.size(), 2u);
    EXPECT_THAT(visited, ::testing::UnorderedElementsAreArray(chosen));
  }
}

/// Batches that are too few to have it apart name all of their chunks.
TEST_P(SweepTest, NamesTheChunksOfASample) {
  std::vector<int> fitted(n_scan);
  std::iota(fitted.begin(), fitted.end(), 0);
  const auto transport = halo::make_transport("auto", world());
  halo::HaloExchange halo({}, 1, *transport);
  const physics::ScanTile tile = this->tile();
  ScanShare share = this->share();
  for (std::size_t i = 0; i < mine_.size(); ++i) share.sampled.push_back(i % 5 < 2);
  share.positions_per_sampled = 2.5;
  share.held_out = {};
  for (const auto& [batch_size, fewest_apart] : {std::pair{0, 0}, {12, 0}, {12, 5}, {0, 15}}) {
    SCOPED_TRACE(text("batches of ", batch_size, ", apart from ", fewest_apart));
    share.fewest_apart = fewest_apart;
    Sweep sweep({fitted, corner_, batch_size, GetParam(), 5}, share, chunk_size, chunk_size, tile,
                halo, *transport);
    EXPECT_EQ(sweep.positions_per_sampled(), 2.5);
    const auto marked = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sweep.sampled());
    for (std::size_t i = 0; i < mine_.size(); ++i) EXPECT_EQ(marked(i), share.sampled[i] ? 1 : 0);
    for (int epoch = 0; epoch < 3; ++epoch) {
      std::vector<int> visits(mine_.size(), 0);
      std::size_t n_sampled_chunks = 0;
      for (const Batch& batch : sweep.start_epoch({}, epoch)) {
        const std::span<const int> order = sweep.pass().order;
        int n = 0;
        for (const physics::Chunk& chunk : batch.chunks()) {
          for (const int local : order.subspan(chunk.begin, chunk.count)) {
            ++visits[local];
            EXPECT_EQ(on_border_[local], &chunk < batch.border.data() + batch.border.size());
          }
          n += chunk.count;
        }
        EXPECT_EQ(batch.n_positions(), n);
        const bool apart = n >= fewest_apart;
        for (const physics::Chunk& chunk : batch.sample)
          for (const int local : order.subspan(chunk.begin, chunk.count)) {
            visits[local] += 10;
            EXPECT_TRUE(share.sampled[local] || !apart);
          }
        EXPECT_TRUE(apart || batch.sample.size() == batch.chunks().size());
        n_sampled_chunks += batch.sample.size();
      }
      EXPECT_EQ(sweep.sample().chunks.size(), n_sampled_chunks);
      EXPECT_EQ(sweep.sample().repeats, sweep.fixed_batches());
      for (std::size_t i = 0; i < mine_.size(); ++i) {
        EXPECT_TRUE(!share.sampled[i] || visits[i] == 11) << "position " << mine_[i];
        EXPECT_EQ(visits[i] % 10, 1) << "position " << mine_[i];
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, SweepTest,
                         ::testing::Values(decomposition::BatchOrder::spread,
                                           decomposition::BatchOrder::random,
                                           decomposition::BatchOrder::compact));

/// Sends nothing, and counts.
struct CountingTransport final : halo::Transport {
  std::string_view name() const override { return "counting"; }
  void begin(const device::Device&, const std::vector<halo::Message>&, int) override { ++n_begun; }
  void progress() override { ++n_progressed; }
  void finish(const device::Device&) override { ++n_finished; }
  void all_reduce(const device::Device&, const device::DeviceView<Real*>&) override {}
  void all_reduce_doubles(const device::Device&, const device::DeviceView<double*>&) override {}
  void broadcast(const device::Device&, const device::DeviceView<Real*>&) override {}
  int n_begun = 0;
  int n_progressed = 0;
  int n_finished = 0;
};

/// One of two tiles of a raster whose windows overlap, its batch the whole scan.
TEST(SweepOfATile, LetsTheExchangeGoOnAfterEveryChunkOfTheInterior) {
  constexpr Shape2 window{4, 4};
  decomposition::NearWindows near{window, {}, {}, {}};
  for (int i = 0; i < 60; ++i) {
    near.positions.push_back(i);
    near.corner.push_back({i / 12 * 3, i % 12 * 3});
  }
  const decomposition::Tiling tiling = decomposition::make_tiling({16, 37}, window, near.corner, 2);
  const decomposition::HaloPlan plan = decomposition::make_halo_plan(tiling, 0);
  std::vector<int> mine;
  std::vector<bool> on_border;
  for (const int i : near.positions) {
    near.tile_of.push_back(tiling.tile_of(i, near.corner[i]));
    if (near.tile_of.back() != 0) continue;
    mine.push_back(i);
    on_border.push_back(!plan.owned.contains(Box::at(near.corner[i], window)));
  }
  const std::vector<Vec2> subpixel(mine.size());
  physics::ScanTile tile;
  tile.order = device::DeviceView<int*>("order", mine.size());
  tile.slot = device::DeviceView<int*>("slot", mine.size());
  tile.slot_shift = device::DeviceView<Real* [2]>("slot_shift", mine.size());
  CountingTransport transport;
  halo::HaloExchange halo(plan, 1, transport);
  Sweep sweep({near.positions, near.corner, 60, decomposition::BatchOrder::compact, 5},
              {mine, on_border, subpixel, near}, 4, 4, tile, halo, transport);
  const Batch& batch = sweep.start_epoch({}, 0).front();
  const device::DeviceView<Real***> sums("sums", 1, plan.ghosted.height(), plan.ghosted.width());
  const halo::TileField field = halo::tile_field(sums);
  std::vector<std::pair<int, int>> before_chunk;  // begun, progressed
  sweep.sum({}, batch, {&field, 1}, {}, [&](const physics::Chunk&) {
    before_chunk.emplace_back(transport.n_begun, transport.n_progressed);
  });
  ASSERT_GT(batch.border.size(), 0u);
  ASSERT_GT(batch.interior.size(), 2u);
  ASSERT_EQ(before_chunk.size(), batch.chunks().size());
  for (std::size_t i = 0; i < before_chunk.size(); ++i) {
    const auto in_interior = static_cast<int>(i) - static_cast<int>(batch.border.size());
    EXPECT_EQ(before_chunk[i], in_interior < 0 ? std::pair(0, 0) : std::pair(1, in_interior));
  }
  EXPECT_EQ(transport.n_progressed, std::ssize(batch.interior));
  EXPECT_EQ(transport.n_finished, 1);
}

}  // namespace
}  // namespace tessera::solvers

#include <numeric>

#include <gtest/gtest.h>

#include "tessera/solvers/sweep.hpp"

#include "support/world.hpp"

namespace tessera::solvers {
namespace {

using testing::world;

/// Forty positions, of which this "rank" holds every third; every other one of these on the border.
class SweepTest : public ::testing::TestWithParam<decomposition::BatchOrder> {
 protected:
  static constexpr int n_scan = 40;
  static constexpr int chunk_size = 2;
  SweepTest() : corner_(n_scan) {
    for (int i = 0; i < n_scan; ++i) corner_[i] = {i / 8 * 5, i % 8 * 5};
    for (int i = 0; i < n_scan; i += 3) mine_.push_back(i);
    for (std::size_t i = 0; i < mine_.size(); ++i) on_border_.push_back(i % 2 == 0);
  }
  std::vector<Pixel> corner_;
  std::vector<int> mine_;
  std::vector<bool> on_border_;
};

TEST_P(SweepTest, VisitsEachOfItsPositionsOnceAndBorderOnesFirst) {
  std::vector<int> fitted(n_scan);
  std::iota(fitted.begin(), fitted.end(), 0);
  fitted.erase(fitted.begin() + 6);  // position 6 is one of mine, but takes no part
  const auto transport = comm::make_transport("auto", world());
  comm::HaloExchange halo({}, 1, *transport);
  const device::DeviceView<int*> order("order", mine_.size());
  Sweep sweep({fitted, corner_, 12, GetParam(), 5}, mine_, on_border_, chunk_size, order, halo,
              *transport);
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::vector<int> visits(mine_.size(), 0);
    const auto visit = [&](std::span<const physics::Chunk> chunks, bool border) {
      for (const physics::Chunk& chunk : chunks) {
        EXPECT_LE(chunk.count, chunk_size);
        for (int i = chunk.begin; i < chunk.begin + chunk.count; ++i) {
          ++visits[order(i)];
          EXPECT_EQ(on_border_[order(i)], border);
        }
      }
    };
    for (const Batch& batch : sweep.start_epoch({}, epoch)) {
      visit(batch.border, true);
      visit(batch.interior, false);
    }
    for (std::size_t i = 0; i < mine_.size(); ++i)
      EXPECT_EQ(visits[i], mine_[i] == 6 ? 0 : 1) << "position " << mine_[i];
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, SweepTest,
                         ::testing::Values(decomposition::BatchOrder::spread,
                                           decomposition::BatchOrder::random,
                                           decomposition::BatchOrder::compact));

}  // namespace
}  // namespace tessera::solvers

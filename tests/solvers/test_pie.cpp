// Epochs of the mini-batch PIE against their formula in plain double-precision loops.

#include <gtest/gtest.h>

#include "tessera/solvers/pie.hpp"

#include "solvers/reference_batch.hpp"

namespace tessera::solvers {
namespace {

using tessera::testing::on_host;
using tessera::testing::relative_difference;
using tessera::testing::SmallScan;
using testing::n_modes;

/// The formulas of pie.hpp for one batch.
void reference_update(SmallScan& scan, const PieOptions& options, std::span<const int> positions,
                      int epoch) {
  const testing::ReferenceSums sums = testing::reference_sums(scan, positions);
  for (std::size_t i = 0; i < sums.object.size(); ++i)
    scan.object.data()[i] +=
        options.object_step * sums.object.data()[i] / sums.object_weight(i, options.object_alpha);
  if (epoch < options.probe_start_epoch) return;
  for (int m = 0; m < n_modes; ++m)
    for (int y = 0; y < scan.window.h; ++y)
      for (int x = 0; x < scan.window.w; ++x)
        scan.probe(m, y, x) +=
            options.probe_step * sums.probe(m, y, x) / sums.probe_weight(y, x, options.probe_alpha);
}

/// Velocity and what it is measured from, of object or probe.
struct ReferenceMomentum {
  WaveStack before;
  WaveStack velocity;
  explicit ReferenceMomentum(const WaveStack& now) : before(now), velocity(now.n(), now.shape()) {}
  void apply(WaveStack& now, double friction) {
    for (std::size_t i = 0; i < now.size(); ++i) {
      auto& v = velocity.data()[i];
      v = friction * v + now.data()[i] - before.data()[i];
      now.data()[i] = before.data()[i] + v;
    }
    before = now;
  }
};

/// The kernels' floor under a dark model amplitude (1e-10) is no part of the formula.
constexpr double tolerance = std::max(10 * tessera::testing::rounding, 1e-10);
constexpr int first_epoch = 3;
constexpr int end_epoch = 5;

struct Case {
  PieOptions options = {};
  testing::Case scan = {};
};

class PieTest : public ::testing::TestWithParam<Case> {};

TEST_P(PieTest, EpochsAreTheFormulaBatchByBatch) {
  const testing::Case& c = GetParam().scan;
  PieOptions options = GetParam().options;
  options.epoch_end.orthogonalise_every = 0;
  SmallScan scan = tessera::testing::make_small_scan({c.window, c.window}, n_modes,
                                                     testing::n_positions, c.subpixel, 31);
  ReferenceMomentum object_momentum(scan.object);
  ReferenceMomentum probe_momentum(scan.probe);
  const double friction = options.epoch_end.friction;
  const Unknowns unknowns = testing::run_epochs(
      c, scan, first_epoch, end_epoch,
      [&](Unknowns& now, physics::ForwardModel& model, const Box& all) {
        return Pie(options, now, model, all, all);
      },
      [&](std::span<const int> positions, int epoch) {
        reference_update(scan, options, positions, epoch);
      },
      [&] {
        object_momentum.apply(scan.object, friction);
        probe_momentum.apply(scan.probe, friction);
      });
  EXPECT_LT(relative_difference(on_host(unknowns.object), scan.object), tolerance);
  EXPECT_LT(relative_difference(on_host(unknowns.probe), scan.probe), tolerance);
}

INSTANTIATE_TEST_SUITE_P(
    Options, PieTest,
    ::testing::Values(
        Case{}, Case{.scan = {.subpixel = false}},
        Case{.options = {.object_alpha = 0.1, .probe_alpha = 0.3}},
        Case{.options = {.object_step = 0.4, .probe_step = 0.2}},
        Case{.options = {.object_step = 0.4, .probe_step = 0.2}, .scan = {.batch_size = 1}},
        Case{.options = {.object_step = 0.4}, .scan = {.subpixel = false, .batch_size = 2}},
        Case{.options = {.object_step = 0.2, .probe_step = 0.2, .epoch_end = {.friction = 0.7}},
             .scan = {.batch_size = 2}}));

// In windows of 32, and in no fixed order, a GPU takes the fused kernels.
constexpr testing::Case fused{.batch_size = 2, .window = 32, .fixed_order = false};
INSTANTIATE_TEST_SUITE_P(
    Fused, PieTest,
    ::testing::Values(
        Case{.options = {.object_step = 0.4, .object_alpha = 0.1, .probe_alpha = 0.3},
             .scan = fused},
        Case{.options = {.object_step = 0.4, .probe_start_epoch = first_epoch + 1},
             .scan = {.batch_size = 1, .window = 32, .fixed_order = false}},
        Case{.options = {.object_step = 0.4},
             .scan = {.subpixel = false, .batch_size = 2, .window = 32, .fixed_order = false}}));

}  // namespace
}  // namespace tessera::solvers

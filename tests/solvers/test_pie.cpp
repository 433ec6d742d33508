// Epochs of the mini-batch PIE against their formula in plain double-precision loops.

#include <gtest/gtest.h>

#include "solvers/pie.hpp"
#include "solvers/reference_batch.hpp"

namespace tessera::solvers::pie_tests {
namespace {

using tessera::testing::on_host;
using tessera::testing::relative_difference;
using tessera::testing::SmallScan;
using testing::n_modes;

/// The formulas of pie.hpp for one batch.
void reference_update(SmallScan& scan, const settings::Pie& options, std::span<const int> positions,
                      bool moves_probe) {
  const testing::ReferenceSums sums = testing::reference_sums(scan, positions);
  for (std::size_t i = 0; i < sums.object.size(); ++i)
    scan.object.data()[i] +=
        options.steps.object * sums.object.data()[i] / sums.object_weight(i, options.alphas.object);
  if (!moves_probe) return;
  for (int m = 0; m < n_modes; ++m)
    for (int y = 0; y < scan.window.h; ++y)
      for (int x = 0; x < scan.window.w; ++x)
        scan.probe(m, y, x) += options.steps.probe * sums.probe(m, y, x) /
                               sums.probe_weight(y, x, options.alphas.probe);
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
  settings::Pie options = {.steps = {1, 1}};
  testing::Case scan = {};
  int probe_start_epoch = 0;
};

class PieTest : public ::testing::TestWithParam<Case> {};

TEST_P(PieTest, EpochsAreTheFormulaBatchByBatch) {
  const testing::Case& c = GetParam().scan;
  const settings::Pie& options = GetParam().options;
  const settings::Solver solver{
      .probe_start_epoch = GetParam().probe_start_epoch, .orthogonalise_every = 0, .own = options};
  SmallScan scan = tessera::testing::make_small_scan({c.window, c.window}, n_modes,
                                                     testing::n_positions, c.subpixel, 31);
  ReferenceMomentum object_momentum(scan.object);
  ReferenceMomentum probe_momentum(scan.probe);
  const double friction = options.momentum;
  const Unknowns unknowns = testing::run_epochs(
      c, scan, first_epoch, end_epoch,
      [&](Unknowns& now, physics::ForwardModel& model, const Box& all) {
        return Pie(solver, now, model, {all, all});
      },
      [&](std::span<const int> positions, int epoch) {
        reference_update(scan, options, positions, epoch >= solver.probe_start_epoch);
      },
      [&] {
        object_momentum.apply(scan.object, friction);
        probe_momentum.apply(scan.probe, friction);
      });
  EXPECT_LT(relative_difference(on_host(unknowns.object), scan.object), tolerance);
  EXPECT_LT(relative_difference(on_host(unknowns.probe), scan.probe), tolerance);
}

INSTANTIATE_TEST_SUITE_P(Options, PieTest,
                         ::testing::Values(Case{}, Case{.scan = {.subpixel = false}},
                                           Case{.options = {.steps = {1, 1}, .alphas = {0.1, 0.3}}},
                                           Case{.options = {.steps = {0.4, 0.2}}},
                                           Case{.options = {.steps = {0.4, 0.2}},
                                                .scan = {.batch_size = 1}},
                                           Case{.options = {.steps = {0.4, 1}},
                                                .scan = {.subpixel = false, .batch_size = 2}},
                                           Case{.options = {.steps = {0.2, 0.2}, .momentum = 0.7},
                                                .scan = {.batch_size = 2}}));

// In windows of 32, and in no fixed order, a GPU takes the fused kernels.
constexpr testing::Case fused{.batch_size = 2, .window = 32, .fixed_order = false};
INSTANTIATE_TEST_SUITE_P(
    Fused, PieTest,
    ::testing::Values(
        Case{.options = {.steps = {0.4, 1}, .alphas = {0.1, 0.3}}, .scan = fused},
        Case{.options = {.steps = {0.4, 1}},
             .scan = {.batch_size = 1, .window = 32, .fixed_order = false},
             .probe_start_epoch = first_epoch + 1},
        Case{.options = {.steps = {0.4, 1}},
             .scan = {.subpixel = false, .batch_size = 2, .window = 32, .fixed_order = false}}));

}  // namespace
}  // namespace tessera::solvers::pie_tests

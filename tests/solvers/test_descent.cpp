// Steps of conjugate gradient and L-BFGS against their formulas in plain double-precision loops.

#include <gtest/gtest.h>

#include "solvers/plain_descent.hpp"

namespace tessera::solvers::descent_tests {
namespace {

using testing::SmallScan;

constexpr int n_positions = 4;
constexpr int n_epochs = 4;

DescentState state_of(const Descent& descent) {
  DescentState state{};
  Kokkos::deep_copy(state, descent.state());
  return state;
}

settings::Solver solver_of(const settings::Descent& own, int orthogonalise_every) {
  return {.batch_size = 0, .orthogonalise_every = orthogonalise_every, .own = own};
}

class DescentTest : public ::testing::TestWithParam<settings::Descent> {};

TEST_P(DescentTest, StepsAreTheFormula) {
  SmallScan scan = testing::make_small_scan({8, 8}, 2, n_positions, true, 61);
  testing::SmallRun run(scan, 0);
  Descent descent(solver_of(GetParam(), 0), run.unknowns, run.model, {run.box, run.box});
  testing::PlainDescent expected(GetParam());
  double last_error = 1e300;
  for (int epoch = 0; epoch < n_epochs; ++epoch) {
    const double error = run.run_epoch(descent, epoch).error();
    EXPECT_LT(error, last_error) << "the formulas take no way back";
    last_error = error;
    expected.step(scan, state_of(descent).moved);
  }
  const double tolerance = sizeof(Real) == 4 ? 1e-4 : 1e-9;
  EXPECT_LT(testing::relative_difference(testing::on_host(run.unknowns.object), scan.object),
            tolerance);
  EXPECT_LT(testing::relative_difference(testing::on_host(run.unknowns.probe), scan.probe),
            tolerance);
}

/// They go uphill, and a descent that went back for it would do so for ever.
TEST_P(DescentTest, ConstraintsAreNoReasonToGoBack) {
  SmallScan scan = testing::make_small_scan({8, 8}, 2, n_positions, true, 64);
  testing::SmallRun run(scan, 0);
  Descent descent(solver_of(GetParam(), 0), run.unknowns, run.model, {run.box, run.box});
  testing::PlainDescent expected(GetParam());
  for (int epoch = 0; epoch < n_epochs; ++epoch) {
    run.run_epoch(descent, epoch);
    EXPECT_EQ(state_of(descent).accepted, 1);
    expected.step(scan, state_of(descent).moved);
    descent.expect_constraints(device::Device());
    constexpr double factor = 1.2;
    expected.scale_object(scan, factor);
    WaveStack object = testing::on_host(run.unknowns.object);
    for (auto& value : object) value *= factor;
    Kokkos::deep_copy(run.unknowns.object, testing::on_device(object));
  }
  const double tolerance = sizeof(Real) == 4 ? 1e-4 : 1e-9;
  EXPECT_LT(testing::relative_difference(testing::on_host(run.unknowns.object), scan.object),
            tolerance);
}

/// A history shorter than the run, too.
INSTANTIATE_TEST_SUITE_P(Rules, DescentTest,
                         ::testing::Values(settings::Descent{.steps = {1, 1}},
                                           settings::Descent{.steps = {0.3, 1},
                                                             .alphas = {0.1, 0.5}},
                                           settings::Descent{.steps = {1, 1}, .lbfgs_history = 2}));

/// Mixing the modes changes no intensity, and what is remembered is mixed along: nor does it change
/// the way.
TEST(Descent, OrthogonalModesGoTheSameWay) {
  for (const int n_history : {0, 3}) {
    const SmallScan scan = testing::make_small_scan({8, 8}, 2, n_positions, true, 62);
    std::array<double, 2> last_error{};
    for (const int every : {0, 1}) {
      testing::SmallRun run(scan, 0);
      Descent descent(solver_of({.steps = {1, 1}, .lbfgs_history = n_history}, every), run.unknowns,
                      run.model, {run.box, run.box});
      for (int epoch = 0; epoch < n_epochs; ++epoch)
        last_error[every] = run.run_epoch(descent, epoch).error();
    }
    EXPECT_NEAR(last_error[1] / last_error[0], 1, 300 * testing::rounding);
  }
}

/// A step made far too long is taken back until the cost is below that before it.
TEST(Descent, AnUphillMoveIsTakenBack) {
  const SmallScan scan = testing::make_small_scan({8, 8}, 2, n_positions, true, 63);
  testing::SmallRun run(scan, 0);
  Descent descent(solver_of({.steps = {1, 1}}, 1), run.unknowns, run.model, {run.box, run.box});
  run.run_epoch(descent, 0);
  // Three times as far along the same line.
  const WaveStack object = testing::on_host(run.unknowns.object);
  WaveStack beyond = object;
  for (std::size_t i = 0; i < object.size(); ++i)
    beyond.data()[i] += 9.0 * (object.data()[i] - scan.object.data()[i]);
  Kokkos::deep_copy(run.unknowns.object, testing::on_device(beyond));
  const double before = run.run_epoch(descent, 1).error();
  EXPECT_EQ(state_of(descent).rejected, 1);
  const double after = run.run_epoch(descent, 2).error();
  EXPECT_LT(after, before);
}

}  // namespace
}  // namespace tessera::solvers::descent_tests

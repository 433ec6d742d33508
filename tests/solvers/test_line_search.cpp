// The line search against costs along the line in plain double loops.

#include <gtest/gtest.h>

#include "tessera/base/text.hpp"

#include "solvers/line_search.hpp"
#include "solvers/small_run.hpp"

namespace tessera::solvers::line_search_tests {
namespace {

using testing::SmallScan;

constexpr int n_positions = 4;

TEST(FirstMinimum, IsWhereTheDerivativeFirstVanishes) {
  // 16 (x - 1/4)^2 (x - 3/4)^2 less its value at 0: minima at 1/4 and 3/4.
  const Polynomial two_minima{{-6, 22, -32, 16}};
  EXPECT_NEAR(first_minimum(two_minima), 0.25, 1e-9);
  EXPECT_EQ(first_minimum({{1, 1}}), 0) << "it rises at once";
  EXPECT_EQ(first_minimum({{-1}}), 1) << "it falls all the way";
  EXPECT_NEAR(first_minimum({{-1e-3, 1}}), 5e-4, 1e-12);
}

class LineSearchTest : public ::testing::TestWithParam<physics::Noise> {
 protected:
  LineSearchTest()
      : run_(scan_, 0, GetParam()),
        object_direction_(testing::random_waves(1, scan_.object.shape(), 52)),
        probe_direction_(testing::random_waves(2, scan_.window, 53)),
        direction_{testing::on_device(object_direction_), testing::on_device(probe_direction_)},
        search_(run_.unknowns, run_.model),
        state_("state") {}

  DescentState search_from(const DescentState& state) {
    Kokkos::deep_copy(state_, state);
    const Batch& batch = run_.sweep.start_epoch({}, 0)[0];
    search_.find_step({}, run_.sweep, batch, run_.unknowns, direction_, state_);
    DescentState found{};
    Kokkos::deep_copy(found, state_);
    return found;
  }
  /// Of all patterns at a distance along the direction.
  double cost_at(double t) const {
    WaveStack object = scan_.object;
    WaveStack probe = scan_.probe;
    for (std::size_t i = 0; i < object.size(); ++i)
      object.data()[i] += t * object_direction_.data()[i];
    for (std::size_t i = 0; i < probe.size(); ++i)
      probe.data()[i] += t * probe_direction_.data()[i];
    double sum = 0;
    for (int j = 0; j < n_positions; ++j) {
      const WaveStack waves =
          testing::dft(testing::exit_waves(object, probe, scan_.corner[j], scan_.subpixel[j]), -1);
      const ImageStack<double> intensity = testing::intensity(waves);
      for (int y = 0; y < scan_.window.h; ++y)
        for (int x = 0; x < scan_.window.w; ++x)
          if (scan_.valid_pixels(0, y, x))
            sum += physics::cost(GetParam(), static_cast<Real>(intensity(0, y, x)),
                                 static_cast<Real>(scan_.counts(j, y, x)));
    }
    return sum;
  }
  /// How far the cost falls from 0 towards `end`, on a fine grid.
  double falls_to(double end) const {
    double min = cost_at(0);
    for (int k = 1; k <= n_grid; ++k) {
      const double cost = cost_at(end * k / n_grid);
      if (cost >= min) return end * (k - 1) / n_grid;
      min = cost;
    }
    return end;
  }

  static constexpr int n_grid = 60;
  static constexpr double reach = 0.2;
  SmallScan scan_ = testing::make_small_scan({8, 8}, 2, n_positions, true, 51);
  testing::SmallRun run_;
  WaveStack object_direction_;
  WaveStack probe_direction_;
  Unknowns direction_;
  LineSearch search_;
  device::DeviceView<DescentState> state_;
};

TEST_P(LineSearchTest, FindsTheLeastCostAheadOrBehind) {
  for (const double end : {3 * reach, -3 * reach}) {
    const double best = falls_to(end);
    const DescentState found = end > 0
                                   ? search_from({.accepted = 1, .reach = reach})
                                   : search_from({.rejected = 1, .moved = -end, .reach = reach});
    const double step = end > 0 ? found.moved : found.moved + end;
    SCOPED_TRACE(text("between 0 and ", end, ", step ", step));
    const bool comes_back = end < 0 && best / end < 0.5;
    const double expected = comes_back ? end / 2 : best;
    EXPECT_NEAR(step, expected, 2 * reach * 3 / n_grid);
    // With the intensity cost the polynomial is no approximation.
    const double tolerance = GetParam() == physics::Noise::intensity ? 1e-3 : 2e-2;
    const double gain = cost_at(0) - cost_at(expected);
    EXPECT_GE(cost_at(0) - cost_at(step), gain - tolerance * std::abs(gain));
  }
}

INSTANTIATE_TEST_SUITE_P(Noises, LineSearchTest,
                         ::testing::Values(physics::Noise::amplitude, physics::Noise::intensity,
                                           physics::Noise::poisson));

}  // namespace
}  // namespace tessera::solvers::line_search_tests

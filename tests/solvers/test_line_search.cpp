// The line search against costs along the line in plain double loops.

#include <algorithm>

#include <gtest/gtest.h>

#include "tessera/base/text.hpp"

#include "physics/gradient_pass.hpp"
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

struct Case {
  physics::Noise noise;
  std::vector<bool> sampled;  ///< empty: all positions
};

class LineSearchTest : public ::testing::TestWithParam<Case> {
 protected:
  LineSearchTest()
      : run_(scan_, 0, GetParam().noise, GetParam().sampled),
        object_direction_(testing::random_waves(1, scan_.object.shape(), 52)),
        probe_direction_(testing::random_waves(2, scan_.window, 53)),
        direction_{testing::on_device(object_direction_), testing::on_device(probe_direction_)},
        search_(run_.unknowns, run_.model),
        state_("state") {}

  DescentState search_from(const DescentState& state) {
    Kokkos::deep_copy(state_, state);
    const Batch& batch = run_.sweep.start_epoch({}, 0)[0];
    run_.model.set_probe({}, run_.unknowns.probe);
    const physics::GradientSums sums =
        testing::zero_sums(run_.unknowns.object, run_.unknowns.probe);
    physics::GradientPass pass(run_.model);
    for (const physics::Chunk& chunk : batch.chunks())
      pass.add({}, run_.unknowns.object, chunk, sums, true);
    run_.model.finish_probe_gradient({}, sums.probe);
    const UnknownSpace space({run_.box, run_.box}, true);
    search_.find_step({}, run_.sweep, space, run_.unknowns, {sums.object, sums.probe}, direction_,
                      state_);
    DescentState found{};
    Kokkos::deep_copy(found, state_);
    return found;
  }
  bool is_sampled(int position) const {
    return GetParam().sampled.empty() || GetParam().sampled[position];
  }
  struct Costs {
    double all = 0;
    double sample = 0;
  };
  /// Of patterns at a distance along the direction.
  Costs costs_at(double t) const {
    WaveStack object = scan_.object;
    WaveStack probe = scan_.probe;
    for (std::size_t i = 0; i < object.size(); ++i)
      object.data()[i] += t * object_direction_.data()[i];
    for (std::size_t i = 0; i < probe.size(); ++i)
      probe.data()[i] += t * probe_direction_.data()[i];
    Costs costs;
    for (int j = 0; j < n_positions; ++j) {
      const WaveStack waves =
          testing::dft(testing::exit_waves(object, probe, scan_.corner[j], scan_.subpixel[j]), -1);
      const ImageStack<double> intensity = testing::intensity(waves);
      double sum = 0;
      for (int y = 0; y < scan_.window.h; ++y)
        for (int x = 0; x < scan_.window.w; ++x)
          if (scan_.valid_pixels(0, y, x))
            sum += physics::cost(GetParam().noise, static_cast<Real>(intensity(0, y, x)),
                                 static_cast<Real>(scan_.counts(j, y, x)));
      costs.all += sum;
      if (is_sampled(j)) costs.sample += sum;
    }
    return costs;
  }
  /// Of all positions if they went on as the sample does, from their own slope; less that at 0.
  double change_at(double t) const {
    constexpr double h = 1e-3;
    const Costs ahead = costs_at(h);
    const Costs behind = costs_at(-h);
    const double slope = (ahead.all - behind.all) / (2 * h);
    const double sample_slope = (ahead.sample - behind.sample) / (2 * h);
    const auto& sampled = GetParam().sampled;
    const double scale = sampled.empty()
                             ? 1.0
                             : static_cast<double>(n_positions) /
                                   static_cast<double>(std::ranges::count(sampled, true));
    return slope * t + scale * (costs_at(t).sample - costs_at(0).sample - sample_slope * t);
  }
  /// How far the cost falls from 0 towards `end`, on a fine grid.
  double falls_to(double end) const {
    double min = 0;
    for (int k = 1; k <= n_grid; ++k) {
      const double change = change_at(end * k / n_grid);
      if (change >= min) return end * (k - 1) / n_grid;
      min = change;
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
    const double tolerance = GetParam().noise == physics::Noise::intensity ? 1e-3 : 2e-2;
    const double change = change_at(expected);
    EXPECT_LE(change_at(step), change + tolerance * std::abs(change));
  }
}

INSTANTIATE_TEST_SUITE_P(Noises, LineSearchTest,
                         ::testing::Values(Case{physics::Noise::amplitude, {}},
                                           Case{physics::Noise::intensity, {}},
                                           Case{physics::Noise::poisson, {}}));

INSTANTIATE_TEST_SUITE_P(
    OfASample, LineSearchTest,
    ::testing::Values(Case{physics::Noise::amplitude, {false, true, false, true}},
                      Case{physics::Noise::intensity, {true, true, false, false}},
                      Case{physics::Noise::intensity, {false, false, false, true}},
                      Case{physics::Noise::poisson, {true, false, true, true}}));

}  // namespace
}  // namespace tessera::solvers::line_search_tests

// Epochs of LSQ-ML against their formula in plain double-precision loops.

#include <gtest/gtest.h>

#include "solvers/lsqml.hpp"
#include "solvers/reference_batch.hpp"

namespace tessera::solvers::lsqml_tests {
namespace {

using tessera::testing::inner;
using tessera::testing::on_host;
using tessera::testing::relative_difference;
using tessera::testing::SmallScan;
using testing::n_modes;

struct Directions {
  WaveStack object;
  WaveStack probe;
};

Directions reference_directions(const SmallScan& scan, const settings::Lsqml& options,
                                std::span<const int> positions, bool moves_probe) {
  const testing::ReferenceSums sums = testing::reference_sums(scan, positions);
  Directions directions{sums.object, sums.probe};
  for (std::size_t i = 0; i < sums.object.size(); ++i)
    directions.object.data()[i] /= sums.object_weight(i, options.alphas.object);
  for (int m = 0; m < n_modes; ++m)
    for (int y = 0; y < scan.window.h; ++y)
      for (int x = 0; x < scan.window.w; ++x)
        directions.probe(m, y, x) /= sums.probe_weight(y, x, options.alphas.probe);
  if (!moves_probe) std::fill(directions.probe.begin(), directions.probe.end(), 0.0);
  return directions;
}

/// The lengths of lsqml.hpp for one position, by Cramer's rule.
std::array<double, 2> reference_lengths(const SmallScan& scan, const Directions& directions,
                                        int j) {
  const Pixel corner = scan.corner[j];
  const Vec2 part = scan.subpixel[j];
  const WaveStack chi = tessera::testing::exit_wave_change(scan, j);
  const WaveStack u = tessera::testing::exit_waves(directions.object, scan.probe, corner, part);
  const WaveStack v = tessera::testing::exit_waves(scan.object, directions.probe, corner, part);
  const double uu = inner(u, u).real() * (1 + Lsqml::damping);
  const double vv = inner(v, v).real() * (1 + Lsqml::damping);
  const double uv = inner(u, v).real();
  const double uchi = inner(u, chi).real();
  const double vchi = inner(v, chi).real();
  if (vv == 0) return {uchi / uu, 0};
  const double determinant = uu * vv - uv * uv;
  return {(vv * uchi - uv * vchi) / determinant, (uu * vchi - uv * uchi) / determinant};
}

/// @param sampled empty: all positions
void reference_update(SmallScan& scan, const settings::Lsqml& options,
                      std::span<const int> positions, const std::vector<bool>& sampled,
                      bool moves_probe) {
  const Directions directions = reference_directions(scan, options, positions, moves_probe);
  double a = 0;
  double b = 0;
  double n = 0;
  for (const int j : positions) {
    if (!sampled.empty() && !sampled[j]) continue;
    const auto lengths = reference_lengths(scan, directions, j);
    a += lengths[0];
    b += lengths[1];
    ++n;
  }
  a /= n;
  b /= n;
  for (std::size_t i = 0; i < scan.object.size(); ++i)
    scan.object.data()[i] += options.steps.object * a * directions.object.data()[i];
  for (std::size_t i = 0; i < scan.probe.size(); ++i)
    scan.probe.data()[i] += options.steps.probe * b * directions.probe.data()[i];
}

/// The kernels' floor under a dark model amplitude (1e-10) is no part of the formula.
constexpr double tolerance = std::max(10 * tessera::testing::rounding, 1e-10);
constexpr int first_epoch = 3;
constexpr int end_epoch = 5;

struct Case {
  settings::Lsqml options = {.steps = {1, 1}, .alphas = {0.1, 0.1}, .momentum = 0};
  testing::Case scan = {};
  int probe_start_epoch = 0;
};

class LsqmlTest : public ::testing::TestWithParam<Case> {};

TEST_P(LsqmlTest, EpochsAreTheFormulaBatchByBatch) {
  const testing::Case& c = GetParam().scan;
  const settings::Lsqml& options = GetParam().options;
  const settings::Solver solver{.batch_size = 0,
                                .probe_start_epoch = GetParam().probe_start_epoch,
                                .orthogonalise_every = 0,
                                .own = options};
  SmallScan scan = tessera::testing::make_small_scan({c.window, c.window}, n_modes,
                                                     testing::n_positions, c.subpixel, 31);
  const Unknowns unknowns = testing::run_epochs(
      c, scan, first_epoch, end_epoch,
      [&](Unknowns& now, physics::ForwardModel& model, const Box& all) {
        return Lsqml(solver, now, model, {all, all});
      },
      [&](std::span<const int> positions, int epoch) {
        reference_update(scan, options, positions, c.sampled, epoch >= solver.probe_start_epoch);
      },
      [] {});
  EXPECT_LT(relative_difference(on_host(unknowns.object), scan.object), tolerance);
  EXPECT_LT(relative_difference(on_host(unknowns.probe), scan.probe), tolerance);
}

INSTANTIATE_TEST_SUITE_P(
    Options, LsqmlTest,
    ::testing::Values(Case{}, Case{.scan = {.subpixel = false}}, Case{.scan = {.batch_size = 1}},
                      Case{.options = {.steps = {1, 1}, .alphas = {1, 0.5}, .momentum = 0},
                           .scan = {.batch_size = 2}},
                      Case{.options = {.steps = {0.4, 0.2}, .alphas = {0.1, 0.1}, .momentum = 0},
                           .scan = {.subpixel = false, .batch_size = 2}},
                      Case{.scan = {.batch_size = 2}, .probe_start_epoch = first_epoch + 1},
                      Case{.scan = {.batch_size = 2, .window = 32, .fixed_order = false}}));

const std::vector<bool> some{false, true, false, true};
INSTANTIATE_TEST_SUITE_P(
    OfASample, LsqmlTest,
    ::testing::Values(
        Case{.scan = {.sampled = some}}, Case{.scan = {.sampled = some, .fewest_apart = 5}},
        Case{.scan = {.subpixel = false, .sampled = {true, false, false, false}}},
        Case{.scan = {.window = 32, .fixed_order = false, .sampled = some}},
        Case{.scan = {.window = 32, .fixed_order = false, .sampled = some, .fewest_apart = 5}}));

}  // namespace
}  // namespace tessera::solvers::lsqml_tests

// One update of the mini-batch PIE against its formula in plain double-precision loops.

#include <gtest/gtest.h>

#include "tessera/solvers/pie.hpp"

#include "support/small_scan.hpp"
#include "support/world.hpp"

namespace tessera::solvers {
namespace {

using testing::Complex;
using testing::SmallScan;
using testing::world;

constexpr int n_modes = 2;
constexpr int n_positions = 4;

double squared_magnitude_sum(const WaveStack& probe, int y, int x) {
  double sum = 0;
  for (int m = 0; m < probe.n(); ++m) sum += std::norm(probe(m, y, x));
  return sum;
}

/// chi: what the modulus constraint adds to the exit waves of position j.
WaveStack exit_wave_change(const SmallScan& scan, int j) {
  const Shape2 window = scan.window;
  WaveStack waves = testing::dft(
      testing::exit_waves(scan.object, scan.probe, scan.corner[j], scan.subpixel[j]), -1);
  for (int y = 0; y < window.h; ++y)
    for (int x = 0; x < window.w; ++x) {
      const double model = std::sqrt(squared_magnitude_sum(waves, y, x));
      const double factor =
          scan.valid_pixels(0, y, x) ? std::sqrt(scan.counts(j, y, x)) / model - 1 : 0;
      for (int m = 0; m < n_modes; ++m) waves(m, y, x) *= factor;
    }
  return testing::dft(waves, +1);
}

/// The formulas of pie.hpp for one batch.
void reference_update(SmallScan& scan, const PieOptions& options, std::span<const int> positions,
                      int epoch) {
  const Shape2 window = scan.window;
  WaveStack object_sum(1, scan.object.shape());
  ImageStack<double> illumination(1, scan.object.shape());
  WaveStack probe_sum(n_modes, window);
  ImageStack<double> overlap(1, window);
  for (const int j : positions) {
    const WaveStack chi = exit_wave_change(scan, j);
    const WaveStack probe = testing::shifted(scan.probe, scan.subpixel[j]);
    WaveStack probe_term = chi;
    for (int y = 0; y < window.h; ++y)
      for (int x = 0; x < window.w; ++x) {
        const Pixel at{scan.corner[j].y + y, scan.corner[j].x + x};
        const Complex o = scan.object(0, at.y, at.x);
        overlap(0, y, x) += std::norm(o);
        for (int m = 0; m < n_modes; ++m) {
          object_sum(0, at.y, at.x) += std::conj(probe(m, y, x)) * chi(m, y, x);
          illumination(0, at.y, at.x) += std::norm(probe(m, y, x));
          probe_term(m, y, x) *= std::conj(o);
        }
      }
    const WaveStack back = testing::shifted(probe_term, {-scan.subpixel[j].y, -scan.subpixel[j].x});
    for (std::size_t i = 0; i < back.size(); ++i) probe_sum.data()[i] += back.data()[i];
  }
  double greatest_power = 0;
  double greatest_overlap = 0;
  for (int y = 0; y < window.h; ++y)
    for (int x = 0; x < window.w; ++x) {
      greatest_power = std::max(greatest_power, squared_magnitude_sum(scan.probe, y, x));
      greatest_overlap = std::max(greatest_overlap, overlap(0, y, x));
    }
  for (std::size_t i = 0; i < object_sum.size(); ++i) {
    const double d = illumination.data()[i];
    const double weight =
        std::max(d, (1 - options.object_alpha) * d + options.object_alpha * greatest_power);
    scan.object.data()[i] += options.object_step * object_sum.data()[i] / weight;
  }
  if (epoch < options.probe_start_epoch) return;
  for (int m = 0; m < n_modes; ++m)
    for (int y = 0; y < window.h; ++y)
      for (int x = 0; x < window.w; ++x)
        scan.probe(m, y, x) +=
            options.probe_step * probe_sum(m, y, x) /
            ((1 - options.probe_alpha) * overlap(0, y, x) + options.probe_alpha * greatest_overlap);
}

/// The kernels' floor under a dark model amplitude (1e-10) is no part of the formula.
constexpr double tolerance = std::max(10 * testing::rounding, 1e-10);
constexpr int first_epoch = 3;
constexpr int end_epoch = 5;

struct Case {
  PieOptions options = {};
  bool subpixel = true;
  int batch_size = 0;
  int window = 8;
  bool fixed_order = true;
};

class PieTest : public ::testing::TestWithParam<Case> {};

TEST_P(PieTest, EpochsAreTheFormulaBatchByBatch) {
  const auto& [options, subpixel, batch_size, window_size, fixed_order] = GetParam();
  const Shape2 window{window_size, window_size};
  SmallScan scan = testing::make_small_scan(window, n_modes, n_positions, subpixel, 31);
  Unknowns unknowns{testing::on_device(scan.object), testing::on_device(scan.probe)};
  physics::ForwardModel model(scan.tile, n_modes, 3, 3, fixed_order, fft::Planning::reproducible);
  const auto transport = comm::make_transport("auto", world());
  const Box all = Box::at({0, 0}, scan.object.shape());
  comm::HaloExchange halo({all, all, {}}, 3, *transport);
  const std::vector<int> positions{0, 1, 2, 3};
  decomposition::BatchSchedule schedule(positions, scan.corner, batch_size,
                                        decomposition::BatchOrder::random, 1);
  Sweep sweep(
      schedule,
      {positions, std::vector<bool>(n_positions, false), scan.corner, scan.subpixel, window, all},
      model.chunk_size(), model.max_slots(), scan.tile, halo, *transport);
  Pie pie(options, unknowns, model, all, all);
  for (int epoch = first_epoch; epoch < end_epoch; ++epoch) {
    pie.start_epoch({}, epoch);
    for (const Batch& batch : sweep.start_epoch({}, epoch)) pie.run_batch({}, sweep, batch, epoch);
    schedule.start_epoch(epoch);
    for (const int id : schedule.visiting_order())
      reference_update(scan, options, schedule.batch(id), epoch);
  }
  EXPECT_LT(testing::relative_difference(testing::on_host(unknowns.object), scan.object),
            tolerance);
  EXPECT_LT(testing::relative_difference(testing::on_host(unknowns.probe), scan.probe), tolerance);
}

INSTANTIATE_TEST_SUITE_P(
    Options, PieTest,
    ::testing::Values(Case{}, Case{.subpixel = false},
                      Case{.options = {.object_alpha = 0.1, .probe_alpha = 0.3}},
                      Case{.options = {.object_step = 0.4, .probe_step = 0.2}},
                      Case{.options = {.object_step = 0.4, .probe_step = 0.2}, .batch_size = 1},
                      Case{.options = {.object_step = 0.4}, .subpixel = false, .batch_size = 2}));

// In windows of 32, and in no fixed order, a GPU takes the fused kernels.
INSTANTIATE_TEST_SUITE_P(
    Fused, PieTest,
    ::testing::Values(Case{.options = {.object_step = 0.4, .object_alpha = 0.1, .probe_alpha = 0.3},
                           .batch_size = 2,
                           .window = 32,
                           .fixed_order = false},
                      Case{.options = {.object_step = 0.4, .probe_start_epoch = first_epoch + 1},
                           .batch_size = 1,
                           .window = 32,
                           .fixed_order = false},
                      Case{.options = {.object_step = 0.4},
                           .subpixel = false,
                           .batch_size = 2,
                           .window = 32,
                           .fixed_order = false}));

}  // namespace
}  // namespace tessera::solvers

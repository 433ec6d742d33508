// Updates of Adam against its formula in plain double-precision loops.

#include <gtest/gtest.h>

#include "solvers/adam.hpp"
#include "solvers/small_run.hpp"

namespace tessera::solvers::adam_tests {
namespace {

using testing::Complex;
using testing::SmallScan;

constexpr int n_positions = 4;

/// The moments of one unknown.
struct Moments {
  explicit Moments(std::size_t n) : m(n), v(n) {}
  std::vector<Complex> m;
  std::vector<double> v;
  int t = 0;

  /// Algorithm 1 of Kingma & Ba, with the negative gradient, where the batch has `seen` anything.
  template <class Seen>
  void update(const settings::Adam& options, double step, const WaveStack& sum, double unit,
              const Seen& seen, WaveStack& values) {
    ++t;
    for (std::size_t i = 0; i < m.size(); ++i) {
      if (!(seen.data()[i % seen.size()] > 0)) continue;
      const Complex g = sum.data()[i] / unit;
      m[i] = options.beta1 * m[i] + (1 - options.beta1) * g;
      v[i] = options.beta2 * v[i] + (1 - options.beta2) * std::norm(g);
      const Complex mean = m[i] / (1 - std::pow(options.beta1, t));
      const double square = v[i] / (1 - std::pow(options.beta2, t));
      values.data()[i] += step * mean / (std::sqrt(square) + options.epsilon);
    }
  }
};

void reference_update(SmallScan& scan, const settings::Adam& options, double fraction,
                      std::span<const int> positions, bool moves_probe, Moments& object,
                      Moments& probe) {
  const testing::PlainSums sums = testing::plain_sums(scan, positions);
  const double power = testing::max_power(scan.probe);
  const double overlap = *std::max_element(sums.overlap.begin(), sums.overlap.end());
  object.update(options, fraction * *options.object_step, sums.object, power, sums.dose,
                scan.object);
  if (moves_probe)
    probe.update(options, fraction * options.probe_step * std::sqrt(power), sums.probe,
                 std::sqrt(power) * overlap, sums.overlap, scan.probe);
}

struct Case {
  settings::Adam options = {};
  int batch_size = 2;
  int probe_start_epoch = 0;
};

class AdamTest : public ::testing::TestWithParam<Case> {};

TEST_P(AdamTest, EpochsAreTheFormulaBatchByBatch) {
  const auto& [options, batch_size, probe_start_epoch] = GetParam();
  const settings::Solver solver{.epochs = 3,
                                .probe_start_epoch = probe_start_epoch,
                                .orthogonalise_every = 0,
                                .own = options};
  SmallScan scan = testing::make_small_scan({8, 8}, 2, n_positions, true, 41);
  testing::SmallRun run(scan, batch_size);
  Adam adam(solver, run.unknowns, run.model, {run.box, run.box});
  Moments object(scan.object.size());
  Moments probe(scan.probe.size());
  for (int epoch = 0; epoch < 3; ++epoch) {
    run.run_epoch(adam, epoch);
    run.schedule.start_epoch(epoch);
    for (const int id : run.schedule.visiting_order())
      reference_update(scan, options, options.schedule.fraction(epoch, 3), run.schedule.batch(id),
                       epoch >= probe_start_epoch, object, probe);
  }
  // Where the gradient is small its direction is that of rounding.
  const double tolerance = 100 * testing::rounding;
  EXPECT_LT(testing::relative_difference(testing::on_host(run.unknowns.object), scan.object),
            tolerance);
  EXPECT_LT(testing::relative_difference(testing::on_host(run.unknowns.probe), scan.probe),
            tolerance);
}

INSTANTIATE_TEST_SUITE_P(
    Options, AdamTest,
    ::testing::Values(Case{.options = {.object_step = 0.01, .schedule = {.final_step = 1}}},
                      Case{.options = {.object_step = 0.02,
                                       .schedule = {.final_step = 1},
                                       .beta1 = 0.5,
                                       .beta2 = 0.7,
                                       .epsilon = 0.3},
                           .batch_size = 4},
                      Case{.options = {.object_step = 0.01,
                                       .schedule = {.full_step_fraction = 1.0 / 3,
                                                    .final_step = 0.1}},
                           .batch_size = 1,
                           .probe_start_epoch = 1}));

}  // namespace
}  // namespace tessera::solvers::adam_tests

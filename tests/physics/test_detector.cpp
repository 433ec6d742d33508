#include <gtest/gtest.h>

#include "physics/forward_model.hpp"
#include "support/small_scan.hpp"

namespace tessera::physics::detector_tests {
namespace {

using testing::on_device;
using testing::on_host;

constexpr int n_positions = 4;

struct Case {
  Shape2 window;
  int n_modes;
};

/// E's numerator by plain loops.
double squared_difference(const testing::SmallScan& scan, const WaveStack& object,
                          const WaveStack& probe) {
  double sum = 0;
  for (int j = 0; j < n_positions; ++j) {
    const WaveStack waves =
        testing::dft(testing::exit_waves(object, probe, scan.corner[j], scan.subpixel[j]), -1);
    for (const double missing : testing::missing_amplitude(scan, j, waves))
      sum += missing * missing;
  }
  return sum;
}

class DetectorTest : public ::testing::TestWithParam<Case> {
 protected:
  DetectorTest()
      : window_(GetParam().window),
        n_modes_(GetParam().n_modes),
        scan_(testing::make_small_scan(window_, n_modes_, n_positions, true)),
        model_(scan_.tile, n_modes_, n_positions, n_positions, true, fft::Planning::reproducible),
        object_(on_device(scan_.object)),
        probe_(on_device(scan_.probe)) {
    model_.set_probe(exec_, probe_);
    model_.forward(exec_, object_, all_);
  }
  const Shape2 window_;
  const int n_modes_;
  device::Device exec_;
  testing::SmallScan scan_;
  ForwardModel model_;
  ObjectView object_;
  ProbeView probe_;
  RunningFigures figures_;
  Chunk all_ = scan_.all;
};

TEST_P(DetectorTest, SumsAgreeWithPlainLoopsAndIgnoreMaskedPixels) {
  model_.detector().measure(exec_, model_.waves(), all_, figures_);
  const FigureSums sums = figures_.take(exec_);
  const double expected = squared_difference(scan_, scan_.object, scan_.probe);
  EXPECT_NEAR(sums[FigureSums::squared_difference] / expected, 1, 10 * testing::rounding);
  double intensity = 0;
  double amplitude = 0;
  for (int j = 0; j < n_positions; ++j)
    for (int y = 0; y < window_.h; ++y)
      for (int x = 0; x < window_.w; ++x)
        if (scan_.valid_pixels(0, y, x)) {
          intensity += scan_.counts(j, y, x);
          amplitude += std::sqrt(scan_.counts(j, y, x));
        }
  EXPECT_EQ(sums[FigureSums::intensity], intensity);
  EXPECT_NEAR(sums[FigureSums::amplitude] / amplitude, 1, testing::rounding);
  EXPECT_EQ(figures_.take(exec_)[FigureSums::squared_difference], 0)
      << "sums start anew once taken";
}

/// Residual, adjoint and gradient together: the change of the cost along random directions of
/// object and probe, by central differences of the plain double-precision cost. d cost = -2 Re
/// <gradient, direction>.
TEST_P(DetectorTest, ResidualGivesTheGradientOfTheAmplitudeCost) {
  model_.detector().replace_by_residual(exec_, model_.waves(), all_, figures_);
  model_.backward(exec_, all_);
  const GradientSums sums = testing::zero_sums(object_, probe_);
  model_.add_gradients(exec_, object_, all_, sums, true);
  model_.finish_probe_gradient(exec_, sums.probe);

  const WaveStack object_direction = testing::random_waves(1, scan_.object.shape(), 21);
  const WaveStack probe_direction = testing::random_waves(n_modes_, window_, 22);
  const auto cost_at = [&](double object_step, double probe_step) {
    WaveStack object = scan_.object;
    WaveStack probe = scan_.probe;
    for (std::size_t i = 0; i < object.size(); ++i)
      object.data()[i] += object_step * object_direction.data()[i];
    for (std::size_t i = 0; i < probe.size(); ++i)
      probe.data()[i] += probe_step * probe_direction.data()[i];
    return squared_difference(scan_, object, probe);
  };
  const double step = 1e-5;
  const double object_slope = (cost_at(step, 0) - cost_at(-step, 0)) / (2 * step);
  const double probe_slope = (cost_at(0, step) - cost_at(0, -step)) / (2 * step);
  const double tolerance = sizeof(Real) == 4 ? 1e-4 : 1e-7;
  EXPECT_NEAR(-2 * testing::inner(on_host(sums.object), object_direction).real() / object_slope, 1,
              tolerance);
  EXPECT_NEAR(-2 * testing::inner(on_host(sums.probe), probe_direction).real() / probe_slope, 1,
              tolerance);
}

// Rows of more pixels than are taken at a time, too, and waves that are alone.
INSTANTIATE_TEST_SUITE_P(Windows, DetectorTest,
                         ::testing::Values(Case{{8, 8}, 2}, Case{{8, 8}, 1}, Case{{4, 150}, 2},
                                           Case{{4, 150}, 1}));

}  // namespace
}  // namespace tessera::physics::detector_tests

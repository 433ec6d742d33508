// Costs along a line against the costs of the model at points of that line.

#include <gtest/gtest.h>

#include "physics/costs_along.hpp"
#include "support/small_scan.hpp"

namespace tessera::physics::costs_along_tests {
namespace {

constexpr int n_modes = 2;
constexpr int n_positions = 4;

struct Detector {
  Noise noise = Noise::amplitude;
  double point_spread_px = 0;
  bool background = false;
  bool own_probes = false;
  Real saturation = std::numeric_limits<Real>::infinity();
  Shape2 window{8, 8};
};

struct Trial {
  ObjectView object;
  ShiftedProbe probe;
};

class CostsAlongTest : public ::testing::TestWithParam<Detector> {};

TEST_P(CostsAlongTest, AreTheCostsOfTheModelThere) {
  const Detector& detector = GetParam();
  const Shape2 window = detector.window;
  testing::SmallScan scan = testing::make_small_scan(window, n_modes, n_positions, true, 71);
  scan.tile.saturation = detector.saturation;
  Parameters parameters;
  if (detector.background) {
    parameters.background = device::DeviceView<Real**>("background", window.h, window.w);
    Kokkos::deep_copy(parameters.background, Real(3));
  }
  if (detector.own_probes) {
    parameters.shift = device::DeviceView<Real* [2]>("shift", n_positions);
    parameters.intensity = device::DeviceView<Real*>("intensity", n_positions);
    parameters.opr_weight = device::DeviceView<Real**>("opr_weight", n_positions, 0);
    Kokkos::deep_copy(parameters.shift, Real(0.3));
    Kokkos::deep_copy(parameters.intensity, Real(0.9));
  }
  ForwardModel model(scan.tile, parameters,
                     {.n_modes = n_modes,
                      .own_probes = detector.own_probes,
                      .noise = detector.noise,
                      .point_spread_px = detector.point_spread_px,
                      .chunk_size = n_positions,
                      .max_slots = n_positions,
                      .planning = fft::Planning::reproducible});
  const WaveStack object_direction = testing::random_waves(1, scan.object.shape(), 72);
  const WaveStack probe_direction = testing::random_waves(n_modes, window, 73);
  const auto trial_at = [&](double t) {
    WaveStack object = scan.object;
    WaveStack probe = scan.probe;
    for (std::size_t i = 0; i < object.size(); ++i)
      object.data()[i] += t * object_direction.data()[i];
    for (std::size_t i = 0; i < probe.size(); ++i) probe.data()[i] += t * probe_direction.data()[i];
    Trial trial{testing::on_device(object),
                model.illumination().with_slots(testing::on_device(probe))};
    model.illumination().transform({}, trial.probe);
    return trial;
  };
  RunningFigures figures;
  const auto cost_at = [&](double t) {
    const Trial trial = trial_at(t);
    model.set_probe({}, trial.probe.probe);
    model.forward({}, trial.object, scan.all);
    model.detector().measure({}, model.waves(), scan.all, figures);
    return figures.take({})[FigureSums::cost];
  };
  constexpr double reach = 0.3;
  CostsAlong along(model);
  const device::DeviceView<Real[CostsAlong::n_costs]> times("times");
  const auto host_times = Kokkos::create_mirror_view(times);
  for (int k = 0; k < CostsAlong::n_costs; ++k) host_times(k) = static_cast<Real>(0.5 * (k - 4));
  Kokkos::deep_copy(times, host_times);
  const device::DeviceView<double*> costs("costs", CostsAlong::n_sums);
  Trial here = trial_at(0);
  Trial ahead = trial_at(reach);
  Trial behind = trial_at(-reach);
  const CostsAlong::Line line{
      {here.object, here.probe}, {ahead.object, ahead.probe}, {behind.object, behind.probe}};
  // Twice: shifted probes that were kept must still be those of their point.
  for (int visit = 0; visit < 2; ++visit) along.add({}, line, scan.all, times, costs);
  const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), costs);
  const double at_zero = cost_at(0);
  for (int k = 0; k < CostsAlong::n_costs; ++k)
    EXPECT_NEAR(found(k) / 2, cost_at(reach * host_times(k)) - at_zero,
                (sizeof(Real) == 4 ? 1e-4 : 1e-10) * std::abs(at_zero))
        << "t = " << host_times(k);
  constexpr double h = sizeof(Real) == 4 ? 1e-2 : 1e-4;
  EXPECT_NEAR(found(CostsAlong::n_costs) / 2, (cost_at(reach * h) - cost_at(-reach * h)) / (2 * h),
              h * h * 20 * std::abs(at_zero));
}

// Windows that fused kernels take where there are any.
INSTANTIATE_TEST_SUITE_P(PowersOfTwo, CostsAlongTest,
                         ::testing::Values(Detector{.window = {32, 32}},
                                           Detector{.saturation = 30, .window = {32, 32}}));
INSTANTIATE_TEST_SUITE_P(Detectors, CostsAlongTest,
                         ::testing::Values(Detector{}, Detector{.window = {4, 150}},
                                           Detector{.noise = Noise::intensity, .saturation = 30},
                                           Detector{.noise = Noise::poisson, .background = true},
                                           Detector{.point_spread_px = 0.8},
                                           Detector{.own_probes = true},
                                           Detector{.noise = Noise::poisson,
                                                    .point_spread_px = 0.8,
                                                    .background = true}));

}  // namespace
}  // namespace tessera::physics::costs_along_tests

// Every model that goes beyond a thin object, one probe and the far field: intensities against
// plain double-precision loops, and the gradient of every unknown against finite differences of
// their cost.

#include <functional>

#include <gtest/gtest.h>

#include "physics/gradient_pass.hpp"
#include "physics/model_scene.hpp"

namespace tessera::physics::models_tests {
namespace {

using device::DeviceView;
using testing::plain::Case;
using testing::plain::n_positions;
using testing::plain::object_shape;
using testing::plain::Scene;
using testing::plain::Unknown;
using testing::plain::window;

constexpr bool in_float = sizeof(Real) == 4;

template <class View, class T>
View put(const std::vector<T>& values, std::size_t a, std::size_t b = KOKKOS_INVALID_INDEX) {
  std::vector<typename View::non_const_value_type> converted(values.begin(), values.end());
  return device::to_device<View>("test", converted.data(), Kokkos::LayoutRight(a, b));
}

class Models : public ::testing::TestWithParam<Case> {
 protected:
  Models()
      : scene_(make_scene(GetParam())),
        tile_(make_tile()),
        parameters_(make_parameters()),
        model_(tile_, parameters_, options()),
        gradient_(model_),
        object_(testing::on_device(scene_.truth.object)),
        probe_(testing::on_device(scene_.truth.probe)) {
    model_.set_probe(exec_, probe_);
  }

  ModelOptions options() const {
    ModelOptions made = scene_.what.options;
    made.wavelength_m = testing::plain::wavelength_m;
    made.pixel_m = testing::plain::pixel_m;
    made.chunk_size = n_positions;
    made.max_slots = n_positions;
    made.fixed_order = true;
    made.planning = fft::Planning::reproducible;
    return made;
  }
  ScanTile make_tile() const {
    std::vector<int> corner;
    for (const Pixel& c : scene_.corner) corner.insert(corner.end(), {c.y, c.x});
    ScanTile tile;
    tile.window = window;
    tile.corner = put<DeviceView<int* [2]>>(corner, scene_.corner.size(), 2);
    const std::vector<float> counts(scene_.counts.begin(), scene_.counts.end());
    tile.patterns = std::make_shared<ResidentPatterns>(device::to_device<DeviceView<float***>>(
        "counts", counts.data(), Kokkos::LayoutRight(n_positions, window.h, window.w)));
    tile.valid_pixels = put<DeviceView<Real**>>(
        std::vector<double>(scene_.valid.begin(), scene_.valid.end()), window.h, window.w);
    tile.saturation = scene_.what.saturation;
    tile.order = put<DeviceView<int*>>(std::vector<int>{0, 1, 2, 3}, n_positions);
    tile.slot = put<DeviceView<int*>>(std::vector<int>{0, 0, 0, 0}, n_positions);
    return tile;
  }
  Parameters make_parameters() const {
    const ModelOptions& options = scene_.what.options;
    const Unknown& u = scene_.truth;
    Parameters made;
    if (options.own_probes) {
      std::vector<double> shift;
      for (const Vec2& s : u.shift) shift.insert(shift.end(), {s.y, s.x});
      made.shift = put<DeviceView<Real* [2]>>(shift, u.shift.size(), 2);
      made.intensity = put<DeviceView<Real*>>(u.intensity, n_positions);
      made.opr_weight = put<DeviceView<Real**>>(u.opr_weight, n_positions, options.n_opr_modes);
    }
    if (scene_.what.has_background)
      made.background = put<DeviceView<Real**>>(u.background, window.h, window.w);
    if (options.n_slices > 1) {
      made.slice_distance_m = put<DeviceView<double*>>(u.distance_m, u.distance_m.size());
      made.tilt_rad = DeviceView<double[2]>("tilt");
      const auto host = Kokkos::create_mirror_view(made.tilt_rad);
      host(0) = u.tilt_rad.y;
      host(1) = u.tilt_rad.x;
      Kokkos::deep_copy(made.tilt_rad, host);
    }
    return made;
  }

  /// The slope that is -1/2 of d(cost)/d(unknown), by central differences of the loops.
  double expected_slope(const std::function<void(Unknown&, double)>& change, double step) const {
    const auto cost_at = [&](double by) {
      Unknown moved = scene_.truth;
      change(moved, by);
      return total_cost(scene_, moved);
    };
    return -(cost_at(step) - cost_at(-step)) / (4 * step);
  }
  /// Sums of a scan with everything fitted that the model has.
  GradientSums add_everything() {
    model_.fit({.positions = options().own_probes,
                .opr = options().n_opr_modes > 0,
                .intensity = options().own_probes,
                .background = scene_.what.has_background,
                .slice_distance = options().n_slices > 1,
                .tilt = options().n_slices > 1});
    const GradientSums sums = testing::zero_sums(object_, probe_);
    gradient_.add(exec_, object_, {.count = n_positions}, sums, true);
    model_.finish_probe_gradient(exec_, sums.probe);
    return sums;
  }
  static void expect_close(double found, double expected, double scale, const std::string& what) {
    EXPECT_NEAR(found, expected, (in_float ? 3e-3 : 1e-6) * std::max(std::abs(expected), scale))
        << what;
  }

  device::Device exec_;
  Scene scene_;
  ScanTile tile_;
  Parameters parameters_;
  ForwardModel model_;
  GradientPass gradient_;
  ObjectView object_;
  ProbeView probe_;
};

TEST_P(Models, CostIsThatOfPlainLoops) {
  const Chunk all{.count = n_positions};
  model_.forward(exec_, object_, all);
  model_.detector().measure(exec_, model_.waves(), all, gradient_.figures());
  EXPECT_NEAR(gradient_.figures().take(exec_)[FigureSums::cost] /
                  total_cost(scene_, scene_.truth, /*excess=*/true),
              1, in_float ? 1e-4 : 1e-10);
  model_.detector().replace_by_residual(exec_, model_.waves(), all, gradient_.figures());
  EXPECT_NEAR(gradient_.figures().take(exec_)[FigureSums::cost] / total_cost(scene_, scene_.truth),
              1, in_float ? 1e-4 : 1e-11);
}

TEST_P(Models, GradientsOfObjectAndProbeAreFiniteDifferences) {
  const GradientSums sums = add_everything();
  const WaveStack d_object = testing::random_waves(scene_.truth.object.n(), object_shape, 21);
  const WaveStack d_probe = testing::random_waves(scene_.truth.probe.n(), window, 22);
  const double object_slope = expected_slope(
      [&](Unknown& u, double by) {
        for (std::size_t i = 0; i < d_object.size(); ++i)
          u.object.data()[i] += by * d_object.data()[i];
      },
      1e-5);
  const double probe_slope = expected_slope(
      [&](Unknown& u, double by) {
        for (std::size_t i = 0; i < d_probe.size(); ++i)
          u.probe.data()[i] += by * d_probe.data()[i];
      },
      1e-5);
  expect_close(testing::inner(testing::on_host(sums.object), d_object).real(), object_slope, 0,
               "object");
  expect_close(testing::inner(testing::on_host(sums.probe), d_probe).real(), probe_slope, 0,
               "probe");
}

TEST_P(Models, SlopesOfEveryPositionsParametersAreFiniteDifferences) {
  if (!options().own_probes) GTEST_SKIP() << "positions have no parameters of their own here";
  add_everything();
  const auto slopes =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), model_.slopes().at_position);
  const int n_sub = options().n_sub_positions;
  for (int j = 0; j < n_positions; ++j) {
    const std::string at = "position " + std::to_string(j);
    const auto shift = [&](int axis) {
      return expected_slope(
          [&](Unknown& u, double by) {
            for (int t = 0; t < n_sub; ++t)
              (axis == 0 ? u.shift[j * n_sub + t].y : u.shift[j * n_sub + t].x) += by;
          },
          1e-5);
    };
    expect_close(slopes(j, ParameterSlopes::y, 0), shift(0), 1, at + " y");
    expect_close(slopes(j, ParameterSlopes::x, 0), shift(1), 1, at + " x");
    expect_close(slopes(j, ParameterSlopes::intensity, 0),
                 expected_slope([&](Unknown& u, double by) { u.intensity[j] += by; }, 1e-5), 1,
                 at + " intensity");
    const int n_opr = options().n_opr_modes;
    for (int k = 0; k < n_opr; ++k)
      expect_close(
          slopes(j, ParameterSlopes::opr + k, 0),
          expected_slope([&](Unknown& u, double by) { u.opr_weight[j * n_opr + k] += by; }, 1e-5),
          1, at + " OPR weight");
    for (std::size_t column = 0; column < slopes.extent(1); ++column)
      EXPECT_GT(slopes(j, column, 1), 0) << "curvature";
  }
}

TEST_P(Models, SlopesOfBackgroundAndOpticsAreFiniteDifferences) {
  if (!scene_.what.has_background && options().n_slices == 1)
    GTEST_SKIP() << "this model has neither";
  add_everything();
  const Kokkos::HostSpace host;
  if (scene_.what.has_background) {
    const auto slopes = Kokkos::create_mirror_view_and_copy(host, model_.slopes().background);
    for (const int i : {0, 13, 57, 79})
      // Half of a slope as the others define it, for no wave is behind a background.
      expect_close(slopes(i / window.w, i % window.w, 0),
                   2 * expected_slope([&](Unknown& u, double by) { u.background[i] += by; }, 1e-5),
                   1, "background");
  }
  if (options().n_slices == 1) return;
  const auto slopes = Kokkos::create_mirror_view_and_copy(host, model_.slopes().optics);
  expect_close(slopes(0, 0),
               expected_slope([](Unknown& u, double by) { u.tilt_rad.y += by; }, 1e-7), 0,
               "tilt y");
  expect_close(slopes(1, 0),
               expected_slope([](Unknown& u, double by) { u.tilt_rad.x += by; }, 1e-7), 0,
               "tilt x");
  for (int gap = 0; gap < options().n_slices - 1; ++gap)
    expect_close(slopes(2 + gap, 0),
                 expected_slope([&](Unknown& u, double by) { u.distance_m[gap] += by; }, 1e-15), 0,
                 "distance");
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Models,
    ::testing::Values(
        Case{"own_probes", {.n_modes = 2, .own_probes = true}},
        Case{"opr", {.n_modes = 2, .n_opr_modes = 2, .own_probes = true}},
        Case{"object_modes", {.n_modes = 2, .n_object_modes = 2}},
        Case{"slices", {.n_modes = 2, .n_slices = 3}},
        Case{"slices_own_probes",
             {.n_modes = 1, .n_object_modes = 2, .n_slices = 2, .own_probes = true}},
        Case{"fly_scan", {.n_modes = 2, .n_sub_positions = 3, .own_probes = true}},
        Case{"fly_opr_slices",
             {.n_modes = 2,
              .n_opr_modes = 1,
              .n_slices = 2,
              .n_sub_positions = 2,
              .own_probes = true}},
        Case{"fresnel", {.n_modes = 2, .propagation = Propagation::fresnel, .distance_m = 5e-9}},
        Case{
            "angular_spectrum",
            {.own_probes = true, .propagation = Propagation::angular_spectrum, .distance_m = 5e-9}},
        Case{"background", {.n_modes = 2}, true}, Case{"poisson", {.noise = Noise::poisson}},
        Case{"stabilised_background", {.n_modes = 2, .noise = Noise::stabilised}, true},
        Case{"intensity_background", {.noise = Noise::intensity}, true},
        Case{"point_spread", {.n_modes = 2, .noise = Noise::poisson, .point_spread_px = 0.7}, true},
        Case{"saturation", {.n_modes = 2}, false, 40}),
    [](const auto& shown) { return std::string(shown.param.name); });

}  // namespace
}  // namespace tessera::physics::models_tests

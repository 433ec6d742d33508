#include "make_model.hpp"

#include "tessera/run/memory.hpp"

namespace tessera::run {
namespace {

using device::DeviceView;

physics::Propagation propagation_from(const std::string& word) {
  if (word == "fresnel") return physics::Propagation::fresnel;
  if (word == "angular_spectrum") return physics::Propagation::angular_spectrum;
  return physics::Propagation::far_field;
}

template <class View>
View filled(const std::string& name, typename View::non_const_value_type value, std::size_t a,
            std::size_t b = KOKKOS_INVALID_INDEX) {
  const View view(name, Kokkos::LayoutRight(a, b));
  Kokkos::deep_copy(view, value);
  return view;
}

/// What each window lacks of its whole-pixel corner, by sub-position.
DeviceView<Real* [2]> shifts(const Scan& scan) {
  std::vector<Real> values;
  for (const Place& place : scan.places)
    values.insert(values.end(),
                  {static_cast<Real>(place.subpixel.y), static_cast<Real>(place.subpixel.x)});
  return device::to_device<DeviceView<Real* [2]>>("tessera::physics::shift", values.data(),
                                                  Kokkos::LayoutRight(values.size() / 2, 2));
}

}  // namespace

physics::Noise noise_from(const std::string& word) {
  if (word == "intensity") return physics::Noise::intensity;
  if (word == "poisson") return physics::Noise::poisson;
  return physics::Noise::amplitude;
}

physics::ModelOptions model_options(const deck::Deck& deck, const Scan& scan) {
  physics::ModelOptions options{
      .n_modes = deck.probe.n_modes,
      .n_opr_modes = deck.probe.opr_modes,
      .n_object_modes = deck.object.n_modes,
      .n_slices = deck.object.n_slices,
      .n_sub_positions = deck.experiment.fly_sub_positions,
      .own_probes = has_own_probes(deck),
      .correlates_positions = correlates_positions(deck),
      .propagation = propagation_from(deck.experiment.propagation),
      .wavelength_m = scan.optics.wavelength_m,
      .pixel_m = scan.grid.pixel_m,
      .distance_m = scan.optics.propagation_m,
      .point_spread_px = deck.experiment.point_spread_px,
      .chunk_size = chunk_size(deck, scan.info.pattern),
      .max_slots = max_slots(deck, scan.info.pattern),
      .fixed_order = deck.run.deterministic,
      .planning = deck.run.deterministic ? fft::Planning::reproducible : fft::Planning::measured};
  for (const deck::Solver& solver : deck.solvers)
    if (options.noise == physics::Noise::amplitude) options.noise = noise_from(solver.noise);
  return options;
}

physics::Parameters start_parameters(const deck::Deck& deck, const Scan& scan) {
  const std::size_t n = scan.tile().positions.size();
  const auto h = static_cast<std::size_t>(scan.info.pattern.h);
  const auto w = static_cast<std::size_t>(scan.info.pattern.w);
  physics::Parameters parameters;
  if (has_own_probes(deck)) {
    parameters.shift = shifts(scan);
    parameters.intensity = filled<DeviceView<Real*>>("tessera::physics::intensity", 1, n);
    parameters.opr_weight = filled<DeviceView<Real**>>(
        "tessera::physics::opr_weight", 0, n, static_cast<std::size_t>(deck.probe.opr_modes));
  }
  parameters.background = scan.on_device.background;
  if (deck.refine.background_from_epoch >= 0 && parameters.background.size() == 0)
    parameters.background = filled<DeviceView<Real**>>("tessera::physics::background", 0, h, w);
  if (deck.object.n_slices == 1) return parameters;
  parameters.slice_distance_m =
      filled<DeviceView<double*>>("tessera::physics::slice_distance", deck.object.slice_thickness_m,
                                  static_cast<std::size_t>(deck.object.n_slices - 1));
  const std::vector<double> tilt = deck.experiment.beam_tilt_rad.empty()
                                       ? std::vector<double>{0, 0}
                                       : deck.experiment.beam_tilt_rad;
  parameters.tilt_rad = device::to_device<DeviceView<double[2]>>(
      "tessera::physics::tilt", tilt.data(), DeviceView<double[2]>::array_layout(2));
  return parameters;
}

solvers::MovingPositions moving_positions(const deck::Deck& deck, const Scan& scan) {
  std::vector<double> given;
  std::vector<double> moved;
  if (deck.refine.positions_from_epoch >= 0)
    for (const int position : scan.tile().positions) {
      const auto at = static_cast<std::size_t>(position);
      given.insert(given.end(), {scan.grid.corner[at].y + scan.grid.subpixel[at].y,
                                 scan.grid.corner[at].x + scan.grid.subpixel[at].x});
      moved.insert(moved.end(), {scan.displacement_px[at].y, scan.displacement_px[at].x});
    }
  const auto on_device = [](const char* label, const std::vector<double>& values) {
    return device::to_device<DeviceView<double* [2]>>(label, values.data(),
                                                      Kokkos::LayoutRight(values.size() / 2, 2));
  };
  return {on_device("tessera::run::given_positions", given),
          on_device("tessera::run::displacement_at_cut", moved)};
}

}  // namespace tessera::run

#include "make_model.hpp"

namespace tessera::run {
namespace {

using device::DeviceView;

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

physics::Parameters start_parameters(const deck::Deck& deck, const Scan& scan) {
  const std::size_t n = scan.tile().positions.size();
  const auto h = static_cast<std::size_t>(scan.info.pattern.h);
  const auto w = static_cast<std::size_t>(scan.info.pattern.w);
  physics::Parameters parameters;
  if (scan.plan.model.own_probes) {
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
    for (std::size_t i = 0; i < scan.subpixel.size(); ++i) {
      const auto position = static_cast<std::size_t>(scan.tile().positions[i]);
      const Vec2 corner = as_vec2(scan.grid.corner[position]) + scan.subpixel[i];
      given.insert(given.end(), {corner.y, corner.x});
      moved.insert(moved.end(), {scan.displacement_px[i].y, scan.displacement_px[i].x});
    }
  const auto on_device = [](const char* label, const std::vector<double>& values) {
    return device::to_device<DeviceView<double* [2]>>(label, values.data(),
                                                      Kokkos::LayoutRight(values.size() / 2, 2));
  };
  return {on_device("tessera::run::given_positions", given),
          on_device("tessera::run::displacement_at_cut", moved), scan.tile().ghosted.begin};
}

}  // namespace tessera::run

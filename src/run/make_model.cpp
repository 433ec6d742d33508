#include "make_model.hpp"

#include <variant>

namespace tessera::run {
namespace {

using device::DeviceView;

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
  const physics::ModelOptions& model = scan.plan.model;
  physics::Parameters parameters;
  if (model.own_probes) parameters.shift = shifts(scan);
  parameters.background = scan.on_device.background;
  solvers::add_parameters(deck.refine,
                          {.experiment = deck.experiment,
                           .object = deck.object,
                           .model = model,
                           .window = scan.info.pattern,
                           .n_positions = scan.tile().positions.size()},
                          parameters);
  return parameters;
}

bool keeps_waves(const deck::Solver& solver) {
  return std::holds_alternative<settings::Projection>(solver.own);
}

solvers::MovingPositions moving_positions(const deck::Deck& deck, const Scan& scan) {
  std::vector<double> given;
  std::vector<double> moved;
  if (deck.refine.positions.from_epoch >= 0)
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

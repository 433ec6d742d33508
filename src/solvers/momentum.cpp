#include "solvers/momentum.hpp"

namespace tessera::solvers {

using device::complex;
using device::Device;
using Stack = device::DeviceView<complex***>;

namespace {

void move_on(const Device& exec, const Stack& now, const Stack& before, const Stack& velocity,
             const OwnedTile& tile, Real friction) {
  for_each_owned_pixel(
      exec, "tessera::solvers::momentum", static_cast<int>(now.extent(0)), tile,
      KOKKOS_LAMBDA(const int i, const int y, const int x) {
        const complex moved = velocity(i, y, x) * friction + (now(i, y, x) - before(i, y, x));
        velocity(i, y, x) = moved;
        now(i, y, x) = before(i, y, x) + moved;
      });
}

/// All of an image.
OwnedTile whole(const Stack& images) {
  const Box all = Box::at({0, 0}, device::image_shape(images));
  return {all, all};
}

}  // namespace

Momentum::Momentum(double friction, const Unknowns& unknowns, const OwnedTile& tile)
    : friction_(friction), unknowns_(unknowns), tile_(tile) {
  if (!is_on()) return;
  object_velocity_ = Stack("tessera::solvers::object_velocity", unknowns.object.layout());
  object_before_ = Stack("tessera::solvers::object_before", unknowns.object.layout());
  probe_velocity_ = Stack("tessera::solvers::probe_velocity", unknowns.probe.layout());
  probe_before_ = Stack("tessera::solvers::probe_before", unknowns.probe.layout());
}

void Momentum::apply(const Device& exec) {
  const auto friction = static_cast<Real>(friction_);
  move_on(exec, unknowns_.object, object_before_, object_velocity_, tile_, friction);
  move_on(exec, unknowns_.probe, probe_before_, probe_velocity_, whole(unknowns_.probe), friction);
}

Fields Momentum::memory() const {
  if (!is_on()) return {};
  return {field("object_velocity", Lives::object, object_velocity_),
          field("probe_velocity", Lives::probe, probe_velocity_)};
}

void Momentum::remember(const Device& exec) const {
  if (!is_on()) return;
  Kokkos::deep_copy(exec, object_before_, unknowns_.object);
  Kokkos::deep_copy(exec, probe_before_, unknowns_.probe);
}

}  // namespace tessera::solvers

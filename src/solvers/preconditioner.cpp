#include "solvers/preconditioner.hpp"

namespace tessera::solvers {

using device::Device;

void Preconditioner::apply(const Device& exec, const Unknowns& from, const Unknowns& to) const {
  const auto dose = sums_.dose;
  const auto overlap = sums_.overlap;
  const auto max_power = maxima_.power;
  const auto max_overlap = maxima_.overlap;
  const auto object_step = static_cast<Real>(steps_.object);
  const auto probe_step = static_cast<Real>(steps_.probe);
  const auto object_alpha = static_cast<Real>(alphas_.object);
  const auto probe_alpha = static_cast<Real>(alphas_.probe);
  const auto object_from = from.object;
  const auto object_to = to.object;
  device::for_each_pixel(
      exec, "tessera::solvers::precondition_object", static_cast<int>(to.object.extent(0)),
      device::image_shape(to.object), KOKKOS_LAMBDA(const int plane, const int y, const int x) {
        const Real weight = dose(plane, y, x) + object_alpha * max_power();
        object_to(plane, y, x) = object_from(plane, y, x) * (object_step / weight);
      });
  const auto probe_from = from.probe;
  const auto probe_to = to.probe;
  device::for_each_pixel(
      exec, "tessera::solvers::precondition_probe", static_cast<int>(to.probe.extent(0)),
      device::image_shape(to.probe), KOKKOS_LAMBDA(const int m, const int y, const int x) {
        const Real weight = overlap(y, x) + probe_alpha * max_overlap();
        // Without a probe gradient there is no overlap either.
        probe_to(m, y, x) = probe_from(m, y, x) * (weight > 0 ? probe_step / weight : Real(0));
      });
}

}  // namespace tessera::solvers

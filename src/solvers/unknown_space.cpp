#include "solvers/unknown_space.hpp"

namespace tessera::solvers {

using device::complex;
using device::Device;
using device::DeviceView;

namespace {

struct Combine {
  DeviceView<complex***> to;
  DeviceView<complex***> from;
  Factor a;
  Factor b;
  KOKKOS_FUNCTION void operator()(const int plane, const int y, const int x) const {
    to(plane, y, x) = a() * from(plane, y, x) + b() * to(plane, y, x);
  }
};

template <class View>
void move_images(const Device& exec, const View& from, const View& direction, const Factor& factor,
                 const View& to) {
  device::for_each_pixel(
      exec, "tessera::solvers::move_along", static_cast<int>(to.extent(0)), device::image_shape(to),
      KOKKOS_LAMBDA(const int plane, const int y, const int x) {
        to(plane, y, x) = from(plane, y, x) + factor() * direction(plane, y, x);
      });
}

}  // namespace

Unknowns make_like(const Unknowns& unknowns) {
  return {physics::ObjectView("tessera::solvers::object_vector", unknowns.object.layout()),
          physics::ProbeView("tessera::solvers::probe_vector", unknowns.probe.layout())};
}

Fields fields_of(const std::string& name, const Unknowns& vector) {
  return {field(name + "_object", Lives::object, vector.object),
          field(name + "_probe", Lives::probe, vector.probe)};
}

void move_along(const Device& exec, const Unknowns& from, const Unknowns& direction,
                const Factor& factor, const Unknowns& to) {
  move_images(exec, from.object, direction.object, factor, to.object);
  move_images(exec, from.probe, direction.probe, factor, to.probe);
}

void UnknownSpace::add_product(const Device& exec, const Unknowns& a, const Unknowns& b,
                               const DeviceView<double*>& product) const {
  const Shape2 tile = tile_.blocks.tile;
  const std::int64_t first =
      static_cast<std::int64_t>(tile_.owned.begin.y) * tile.w + tile_.owned.begin.x;
  inner_product_.add(
      exec, a.object.data() + first, b.object.data() + first,
      {static_cast<int>(a.object.extent(0)), tile_.owned.shape(), tile.w, tile.size()}, product);
  if (!counts_probe_) return;
  const Shape2 window = device::image_shape(a.probe);
  inner_product_.add(exec, a.probe.data(), b.probe.data(),
                     {static_cast<int>(a.probe.extent(0)), window, window.w, window.size()},
                     product);
}

void UnknownSpace::combine(const Device& exec, const Unknowns& to, const Factor& a,
                           const Unknowns& from, const Factor& b) const {
  for_each_owned_pixel(exec, "tessera::solvers::combine_vectors",
                       static_cast<int>(to.object.extent(0)), tile_,
                       Combine{to.object, from.object, a, b});
  device::for_each_pixel(exec, "tessera::solvers::combine_vectors",
                         static_cast<int>(to.probe.extent(0)), device::image_shape(to.probe),
                         Combine{to.probe, from.probe, a, b});
}

}  // namespace tessera::solvers

#include "probe_support.hpp"

namespace tessera::solvers {

using device::complex;
using device::Device;

namespace {

/// images = scale * images in a disc about `centre`, zero outside; the window is periodic.
void cut(const Device& exec, double radius_px, Pixel centre, Real scale,
         const physics::ProbeView& images) {
  const Shape2 shape = device::image_shape(images);
  const Pixel to_middle{shape.h / 2 - centre.y, shape.w / 2 - centre.x};
  const auto greatest = static_cast<Real>(radius_px * radius_px);
  device::for_each_pixel(
      exec, "tessera::solvers::keep_disc", static_cast<int>(images.extent(0)), shape,
      KOKKOS_LAMBDA(const int i, const int y, const int x) {
        const int dy = (y + to_middle.y) % shape.h - shape.h / 2;
        const int dx = (x + to_middle.x) % shape.w - shape.w / 2;
        const bool inside = static_cast<Real>(dy * dy + dx * dx) <= greatest;
        images(i, y, x) = inside ? images(i, y, x) * scale : complex(0);
      });
}

}  // namespace

void keep_disc(const Device& exec, double radius_px, const physics::ProbeView& probe) {
  cut(exec, radius_px,
      {static_cast<int>(probe.extent(1)) / 2, static_cast<int>(probe.extent(2)) / 2}, 1, probe);
}

void keep_aperture(const Device& exec, const fft::Plan& plan, double radius_px,
                   const physics::ProbeView& probe) {
  const auto n = static_cast<int>(probe.extent(0));
  plan.forward(exec, probe.data(), n);
  cut(exec, radius_px, {0, 0}, plan.unitary_scale() * plan.unitary_scale(), probe);
  plan.inverse(exec, probe.data(), n);
}

}  // namespace tessera::solvers

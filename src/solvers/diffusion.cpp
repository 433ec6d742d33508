#include "diffusion.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::solvers {

using device::complex;
using device::Device;

HeatSteps heat_steps(double sigma, double greatest_step) {
  const double total_step = sigma * sigma / 2;
  const int n = std::max(1, static_cast<int>(std::ceil(total_step / greatest_step)));
  return {n, static_cast<Real>(total_step / n)};
}

namespace {

void take_step(const Device& exec, Real step, const OwnedTile& tile, const ImageView& image,
               const ImageView& scratch) {
  const auto h = static_cast<int>(image.extent(0));
  const auto w = static_cast<int>(image.extent(1));
  for_each_owned_pixel(
      exec, "tessera::solvers::diffuse", 1, tile, KOKKOS_LAMBDA(int, const int y, const int x) {
        const complex here = image(y, x);
        complex sum = 0;
        if (y > 0) sum += image(y - 1, x) - here;
        if (y + 1 < h) sum += image(y + 1, x) - here;
        if (x > 0) sum += image(y, x - 1) - here;
        if (x + 1 < w) sum += image(y, x + 1) - here;
        scratch(y, x) = here + sum * step;
      });
  copy_owned(exec, tile, scratch, image);
}

}  // namespace

void diffuse(const Device& exec, Sweep& sweep, const HeatSteps& heat, const OwnedTile& tile,
             const physics::ObjectView& object, const ImageView& scratch) {
  for (int k = 0; k < heat.n; ++k) {
    for (int plane = 0; plane < static_cast<int>(object.extent(0)); ++plane)
      take_step(exec, heat.step, tile, plane_of(object, plane), scratch);
    fill_ghosts(exec, sweep, object);
  }
}

void diffuse_slices(const Device& exec, const HeatSteps& heat, int n_slices,
                    const physics::ObjectView& object) {
  const int n_object_modes = static_cast<int>(object.extent(0)) / n_slices;
  const Shape2 tile = device::image_shape(object);
  device::for_each_pixel(
      exec, "tessera::solvers::diffuse_slices", n_object_modes, tile,
      KOKKOS_LAMBDA(const int mode, const int y, const int x) {
        const int first = mode * n_slices;
        const int last = first + n_slices - 1;
        for (int k = 0; k < heat.n; ++k) {
          complex before = object(first, y, x);  // the slice above, as it was
          for (int slice = first; slice <= last; ++slice) {
            const complex here = object(slice, y, x);
            const complex below = object(slice < last ? slice + 1 : last, y, x);
            object(slice, y, x) = here + (before - here + (below - here)) * heat.step;
            before = here;
          }
        }
      });
}

}  // namespace tessera::solvers

// Steps of the heat equation: low-pass, smoothness and slice coupling.

#include <cmath>

#include "constraint.hpp"

namespace tessera::solvers {

using device::complex;
using device::Device;

namespace {

/// `n` times o += step * (sum of neighbours' differences): each adds 2 step to the variance along
/// each axis.
struct HeatSteps {
  int n = 1;
  Real step = 0;
};

/// Along y and x no frequency changes its sign up to here; along one axis alone, up to twice that.
constexpr double max_heat_step = 0.125;

/// Together a Gaussian of standard deviation `sigma` along each axis, in pixels or slices.
HeatSteps heat_steps(double sigma, double max_step) {
  const double total_step = sigma * sigma / 2;
  const int n = std::max(1, static_cast<int>(std::ceil(total_step / max_step)));
  return {n, static_cast<Real>(total_step / n)};
}

void diffuse_once(const Device& exec, Real step, const OwnedTile& tile, const ImageView& image,
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

/// In every plane; neighbours outside the object do not count. One exchange a step. Collective.
void diffuse(const Device& exec, Sweep& sweep, const HeatSteps& heat,
             const physics::ObjectView& object, const ConstraintWorkspace& workspace) {
  for (int k = 0; k < heat.n; ++k) {
    for (int plane = 0; plane < static_cast<int>(object.extent(0)); ++plane)
      diffuse_once(exec, heat.step, workspace.frame.tile, plane_of(object, plane),
                   workspace.scratch[0]);
    fill_ghosts(exec, sweep, object);
  }
}

/// Along z, at every pixel of the tile, ghosts too: no exchange.
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

/// `to` = what a heat step along z of length 1 adds to a plane, at every pixel of the tile.
void difference_along_z(const Device& exec, const ImageView& above, const ImageView& here,
                        const ImageView& below, const ImageView& to) {
  device::for_each_pixel(
      exec, "tessera::solvers::difference_along_z", 1, device::image_shape(to),
      KOKKOS_LAMBDA(int, const int y, const int x) {
        to(y, x) = above(y, x) - here(y, x) + (below(y, x) - here(y, x));
      });
}

/// plane += step added, and `before` becomes what the plane was, at every pixel of the tile.
void add_and_keep(const Device& exec, Real step, const ImageView& added, const ImageView& plane,
                  const ImageView& before) {
  device::for_each_pixel(
      exec, "tessera::solvers::add_and_keep", 1, device::image_shape(plane),
      KOKKOS_LAMBDA(int, const int y, const int x) {
        before(y, x) = plane(y, x);
        plane(y, x) += added(y, x) * step;
      });
}

/// Along z, of what passes `in_plane` alone. One exchange of an image for every plane and step in
/// the plane. Collective.
void diffuse_coarse_slices(const Device& exec, Sweep& sweep, const HeatSteps& along_z,
                           const HeatSteps& in_plane, const physics::ObjectView& object,
                           const ConstraintWorkspace& workspace) {
  // No structured binding: nvcc 13 takes all memory over one of views.
  const ImageView& scratch = workspace.scratch[0];
  const ImageView& added = workspace.scratch[1];
  const ImageView& before = workspace.scratch[2];
  const int n_planes = static_cast<int>(object.extent(0));
  for (int k = 0; k < along_z.n; ++k)
    for (int plane = 0; plane < n_planes; ++plane) {
      const int slice = plane % workspace.n_slices;
      const ImageView here = plane_of(object, plane);
      difference_along_z(exec, slice > 0 ? before : here, here,
                         slice + 1 < workspace.n_slices ? plane_of(object, plane + 1) : here,
                         added);
      for (int i = 0; i < in_plane.n; ++i) {
        diffuse_once(exec, in_plane.step, workspace.frame.tile, added, scratch);
        fill_ghosts(exec, sweep, added);
      }
      add_and_keep(exec, along_z.step, added, here, before);
    }
}

class InPlane final : public Constraint {
 public:
  InPlane(const settings::Onset& onset, const HeatSteps& heat) : Constraint(onset), heat_(heat) {}
  Needs needs() const override { return {.ghost_margin_px = 1, .n_scratch_images = 1}; }
  void apply(const Device& exec, Sweep& sweep, const Unknowns& unknowns,
             const ConstraintWorkspace& workspace, int /*epoch*/) const override {
    diffuse(exec, sweep, heat_, unknowns.object, workspace);
  }

 private:
  HeatSteps heat_;
};

class AlongSlices final : public Constraint {
 public:
  explicit AlongSlices(const settings::SliceCoupling& settings)
      : Constraint(settings.onset),
        along_z_(heat_steps(settings.sigma, 2 * max_heat_step)),
        coarse_px_(settings.coarse_px) {}
  Needs needs() const override {
    return coarse_px_ > 0 ? Needs{.ghost_margin_px = 1, .n_scratch_images = 3} : Needs{};
  }
  void apply(const Device& exec, Sweep& sweep, const Unknowns& unknowns,
             const ConstraintWorkspace& workspace, int /*epoch*/) const override {
    if (coarse_px_ > 0)
      diffuse_coarse_slices(exec, sweep, along_z_, heat_steps(coarse_px_, max_heat_step),
                            unknowns.object, workspace);
    else
      diffuse_slices(exec, along_z_, workspace.n_slices, unknowns.object);
  }

 private:
  HeatSteps along_z_;
  double coarse_px_;
};

}  // namespace

template <>
std::unique_ptr<Constraint> make_constraint(const settings::LowPass& settings) {
  return std::make_unique<InPlane>(settings.onset, heat_steps(settings.sigma_px, max_heat_step));
}

template <>
std::unique_ptr<Constraint> make_constraint(const settings::Smoothness& settings) {
  return std::make_unique<InPlane>(settings.onset, HeatSteps{1, static_cast<Real>(settings.step)});
}

template <>
std::unique_ptr<Constraint> make_constraint(const settings::SliceCoupling& settings) {
  return std::make_unique<AlongSlices>(settings);
}

}  // namespace tessera::solvers

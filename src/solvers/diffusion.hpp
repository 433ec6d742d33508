#pragma once
/// Steps of the heat equation: smoothness, low-pass and slice coupling.

#include "tessera/physics/forward_model.hpp"

#include "tile_images.hpp"

namespace tessera::solvers {

/// `n` times o += step * (sum of neighbours' differences): each adds 2 step to the variance along
/// each axis.
struct HeatSteps {
  int n = 1;
  Real step = 0;
};

/// Along y and x no frequency changes its sign up to here; along one axis alone, up to twice that.
inline constexpr double greatest_heat_step = 0.125;

/// Together a Gaussian of standard deviation `sigma` along each axis, in pixels or slices.
HeatSteps heat_steps(double sigma, double greatest_step);

/// In every plane; neighbours outside the object do not count. One exchange a step. Collective.
void diffuse(const device::Device& exec, Sweep& sweep, const HeatSteps& heat, const OwnedTile& tile,
             const physics::ObjectView& object, const ImageView& scratch);

/// Along z, at every pixel of the tile, ghosts too: no exchange.
void diffuse_slices(const device::Device& exec, const HeatSteps& heat, int n_slices,
                    const physics::ObjectView& object);

}  // namespace tessera::solvers

#pragma once
/// Constraints of every object pixel for itself.

#include "tessera/physics/forward_model.hpp"
#include "tessera/solvers/constraints.hpp"

#include "tile_images.hpp"

namespace tessera::solvers {

/// Those that act after one epoch.
struct ObjectBounds {
  Real l1_threshold = 0;  ///< 0: none
  bool bounds_phase = false;
  Real least_phase_rad = 0;
  Real greatest_phase_rad = 0;
  bool bounds_amplitude = false;
  Real least_amplitude = 0;
  Real greatest_amplitude = 0;
  bool has_support = false;
  Real support_radius_px = 0;  ///< 0: where there is coverage
  bool any() const { return l1_threshold > 0 || bounds_phase || bounds_amplitude || has_support; }
};

ObjectBounds object_bounds(const ConstraintOptions& options, int epoch);

/// In turn: o - 1 shrinks by the threshold; the phase goes to the nearer bound, the amplitude
/// stays; the amplitude goes to its bound; what is outside the support becomes 1. At every pixel of
/// the tile, ghosts too: no exchange.
void apply_bounds(const device::Device& exec, const ObjectBounds& bounds, const TileFrame& frame,
                  const device::DeviceView<Real**>& coverage, const physics::ObjectView& object);

}  // namespace tessera::solvers

#pragma once
/// Keeps the probe in the middle of its window.

#include "tessera/solvers/solver.hpp"

#include "tile_images.hpp"

namespace tessera::solvers {

/// Where the centre of mass of sum_m |P_m|^2 is more than half a pixel from the window's centre,
/// probe and object move by one pixel together, along each axis. Far-field intensities do not
/// change, as far as the probe vanishes at the window's edge, over which it is periodic; scan
/// positions stay. One pixel is what the ghosts hold, so a large offset takes as many epochs. At
/// the object's border the outermost pixel is repeated.
class ProbeCentring {
 public:
  /// @param n_modes the first images of the probe; the others move with them
  ProbeCentring(const OwnedTile& tile, int n_modes, int n_probe_images, Shape2 window,
                const ImageView& scratch);
  /// Object and ghosts: one exchange. Collective.
  void step(const device::Device& exec, Sweep& sweep, const Unknowns& unknowns) const;

 private:
  void find_move(const device::Device& exec, const physics::ProbeView& probe) const;

  OwnedTile tile_;
  int n_modes_;
  ImageView scratch_;
  physics::ProbeView moved_probe_;
  device::DeviceView<double*> sum_scratch_;
  device::DeviceView<double*> sums_;  ///< power; its moments along y and x
  device::DeviceView<int[2]> move_;   ///< pixels, (y, x)
};

}  // namespace tessera::solvers

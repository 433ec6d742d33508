#pragma once
/// The linear phase that data cannot assign to object or probe.

#include "tessera/solvers/solver.hpp"

#include "tile_images.hpp"

namespace tessera::solvers {

/// Takes the mean phase gradient k = arg sum w conj(o(x)) o(x + 1) of the object's first slice
/// (Guizar-Sicairos et al. 2011, Opt. Express 19, 21345, remove it likewise), w the coverage, into
/// the probe: o(x) exp(-i k x), P(x) exp(i k x). Every exit wave keeps its value but for a constant
/// phase; with sub-pixel positions, as far as the probe vanishes at the window's edge. Between the
/// slices of a thick object a ramp is no ambiguity and stays.
class PhaseRamp {
 public:
  PhaseRamp(const TileFrame& frame, int n_slices, device::DeviceView<Real**> coverage);
  /// All-reduces 4 doubles. Collective.
  void move_to_probe(const device::Device& exec, Sweep& sweep, const Unknowns& unknowns) const;

 private:
  TileFrame frame_;
  int n_slices_;
  device::DeviceView<Real**> coverage_;
  device::DeviceView<double*> scratch_;
  device::DeviceView<double*> sums_;      ///< along y: re, im; along x: re, im
  device::DeviceView<Real[2]> ramp_rad_;  ///< per pixel, (y, x)
};

}  // namespace tessera::solvers

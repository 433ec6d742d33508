#pragma once
/// The beam before and behind the sample.

#include <vector>

#include "tessera/base/image_stack.hpp"

namespace tessera::report {

struct BeamAlongZ {
  std::vector<double> z_m;  ///< distances from the sample, downstream
  ImageStack<double> y;     ///< (1, h, n_z): intensity summed over x and all modes
  ImageStack<double> x;     ///< (1, w, n_z): summed over y
  double sharpest_m = 0;    ///< where the sum of the squared intensity is greatest
};

/// In free space by the angular spectrum, to where the steepest wave that the pixels can hold has
/// walked 3/4 of the window: beyond, a window no longer holds the beam.
/// @param probe (n_modes, h, w)
BeamAlongZ beam_along_z(const WaveStack& probe, double pixel_m, double wavelength_m);

}  // namespace tessera::report

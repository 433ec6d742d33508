#pragma once
/// A defocused beam's parallax: parts of the bright disc see the sample under different angles, so
/// the images that they make of the raster are shifted against each other.

#include <optional>

#include "raster_sample.hpp"

namespace tessera::analysis {

/// For pixels (y, x) between two places in the disc their images are shifted by
/// (yy y + yx x, xy y + xx x) rows and columns of the raster.
struct DiscParallax {
  double yy = 0;
  double yx = 0;
  double xy = 0;
  double xx = 0;
  double correlation = 0;  ///< of images so shifted
};

/// Images of blocks that are neighbours are registered, all such pairs together, then of those
/// farther apart, which tell the shift more finely.
/// @return nothing if they hardly agree, are not shifted (the beam is in focus), or not by the same
/// length in all directions
std::optional<DiscParallax> find_disc_parallax(const RasterSample& sample);

}  // namespace tessera::analysis

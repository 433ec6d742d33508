#pragma once
/// How images of a scan in the near field, or out of focus, move with the scan positions.

#include <optional>
#include <vector>

#include "survey.hpp"

namespace tessera::analysis {

/// A shift of the image, detector pixels, for a step of the positions, as a matrix:
/// (dy, dx) = (yy py + yx px, xy py + xx px).
struct ShadowMotion {
  double yy = 0;
  double yx = 0;
  double xy = 0;
  double xx = 0;
  int n_pairs = 0;  ///< of patterns that agree
};

/// Some hundred pairs of neighbours and of patterns farther apart, each divided by the mean
/// pattern, are registered by the peak of their correlation; the matrix is what most of them agree
/// on, where positions may be a pixel or two off.
/// @param positions by scan position, in any unit
/// @return nothing if they do not agree, or mostly move by less than three pixels: no shadow images
/// @throws InputError
std::optional<ShadowMotion> find_shadow_motion(io::ScanReader& reader, const Survey& survey,
                                               const ImageStack<double>& trusted,
                                               const std::vector<Vec2>& positions);

}  // namespace tessera::analysis

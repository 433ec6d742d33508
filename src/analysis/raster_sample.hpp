#pragma once
/// A part of a raster scan, each pattern looked at once.

#include <vector>

#include "tessera/base/image_stack.hpp"

#include "optics/disc_images.hpp"
#include "survey.hpp"

namespace tessera::analysis {

struct RasterSample {
  std::vector<double> counts;  ///< of a pattern, row by row
  std::vector<Vec2> centres;   ///< of mass, pixels
  optics::DiscImages disc;     ///< of the part; blocks on the disc's edge are left out
};

/// @param n_columns of the raster, which the file may not know
/// @param trusted (1, h, w), 1 = trust; empty: every pixel
/// @param reader has surveyed the file @throws InputError
RasterSample sample_raster(io::ScanReader& reader, int n_columns, const Box& positions,
                           const ImageStack<double>& trusted, const Survey& survey,
                           const BeamOnDetector& beam);

}  // namespace tessera::analysis

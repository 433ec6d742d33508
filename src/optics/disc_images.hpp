#pragma once
/// Images that parts of the bright disc make of the sample.

#include <vector>

#include "tessera/base/image_stack.hpp"

namespace tessera::optics {

/// The bright disc is cut into square blocks, each of which makes an image of a raster.
struct DiscImages {
  Shape2 raster;
  int block_px = 1;
  std::vector<Pixel> blocks;  ///< their row and column, in blocks
  ImageStack<double> images;  ///< (block, raster): light in a block
};

/// Side of blocks of which some ten go across a disc of this radius.
int block_side(double radius);

/// Squares of `side` pixels of which eight tenths, at least, are in the disc: row and column, in
/// squares.
/// @param disc (1, h, w), 1 = in it
std::vector<Pixel> blocks_within(const ImageStack<double>& disc, int side);

/// Of scan positions anywhere, on a grid of nodes `step_px` apart, about one for each position.
/// @param patterns (position, h, w), counts, of pixels that are `bin` of the detector's
DiscImages disc_images(const ImageStack<double>& patterns, const std::vector<Vec2>& positions_px,
                       double step_px, int bin);

}  // namespace tessera::optics

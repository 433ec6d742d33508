#pragma once
/// Which object pixels the beam has seen: the only ones worth comparing or showing.

#include <cstdint>
#include <span>

#include "tessera/base/image_stack.hpp"

namespace tessera::optics {

/// One image, 1 = pixel counts.
using PixelSet = ImageStack<std::uint8_t>;

/// Pixels where the sum over all windows of |probe|^2 is at least `min` of its maximum.
/// @param object grid that the corners refer to, pixels
/// @param window_corner_px real-valued corners; rounded here, for a region needs no sub-pixels
/// @param stride the region of every `stride`-th object pixel, for pictures of large objects
/// @throws InputError if a window lies outside the object
PixelSet illuminated_region(Shape2 object, std::span<const Vec2> window_corner_px,
                            const WaveStack& probe, int stride = 1, double min = 0.05);

/// The smallest box around the region; empty if the region is.
Box bounding_box(const PixelSet& region);

/// Weights in [0, 1]: zero outside the region, rising to one about `width_px` inside its edge.
ImageStack<double> soft_window(const PixelSet& region, int width_px);

/// The part of every image inside `box`, which lies within the images.
template <class T>
ImageStack<T> cropped(const ImageStack<T>& images, const Box& box) {
  ImageStack<T> out(images.n(), box.shape());
  for (int i = 0; i < out.n(); ++i)
    for (int y = 0; y < out.h(); ++y)
      for (int x = 0; x < out.w(); ++x) out(i, y, x) = images(i, box.begin.y + y, box.begin.x + x);
  return out;
}

}  // namespace tessera::optics

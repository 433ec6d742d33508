#pragma once
/// Which object pixels the beam has seen: the only ones worth comparing or showing.

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/base/image_stack.hpp"

namespace tessera::optics {

/// One image, 1 = pixel counts.
using PixelSet = ImageStack<std::uint8_t>;

/// A pixel counts from here on, of the greatest light on the object.
inline constexpr double least_light = 0.05;

/// The light on an object, box by box: an object may have more pixels than fit in memory.
class Illumination {
 public:
  /// @param object grid that the corners refer to, pixels
  /// @param window_corner_px real-valued corners; rounded here, for a region needs no sub-pixels
  /// @param stride the light on blocks of `stride` x `stride` pixels, for pictures of large objects
  /// @throws InputError if a window lies outside the object
  Illumination(Shape2 object, std::span<const Vec2> window_corner_px, const WaveStack& probe,
               int stride = 1);
  /// Of all boxes together.
  Shape2 shape() const { return grid_; }
  /// Sum over all windows of |probe|^2 at the pixels of `box`, which lies within the shape.
  ImageStack<double> in(const Box& box) const;

 private:
  ImageStack<double> added_up(std::span<const Pixel> corners, const Box& box) const;
  ImageStack<double> by_transforms(std::span<const Pixel> corners, const Box& box,
                                   Shape2 padded) const;

  Shape2 grid_;
  std::vector<Pixel> corners_;    ///< by rows
  ImageStack<double> intensity_;  ///< of one window
};

/// `whole` in boxes of at most `side_px` a side, all nearly equal, by rows.
std::vector<Box> equal_boxes(const Box& whole, int side_px);

/// Pixels with at least `min` of the greatest light on the object; parameters as of Illumination.
PixelSet illuminated_region(Shape2 object, std::span<const Vec2> window_corner_px,
                            const WaveStack& probe, int stride = 1, double min = least_light);

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

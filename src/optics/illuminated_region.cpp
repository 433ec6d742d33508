#include "optics/illuminated_region.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/optics/host_fft.hpp"

namespace tessera::optics {
namespace {

/// How many windows start at each pixel of the coarse grid.
WaveStack corner_counts(Shape2 object, std::span<const Vec2> window_corner_px, Shape2 window,
                        int stride, Shape2 grid) {
  WaveStack counts(1, grid);
  for (const Vec2& corner : window_corner_px) {
    const Pixel whole{static_cast<int>(std::lround(corner.y)),
                      static_cast<int>(std::lround(corner.x))};
    // A sub-pixel part may round a window one pixel past the object's end.
    if (whole.y < -1 || whole.x < -1 || whole.y + window.h > object.h + 1 ||
        whole.x + window.w > object.w + 1)
      throw InputError(text("window_corner_px holds (", corner.y, ", ", corner.x, "): a window of ",
                            window.h, " x ", window.w, " there lies outside the object of ",
                            object.h, " x ", object.w,
                            " pixels; the file is not a consistent result"));
    counts(0, std::clamp(whole.y, 0, object.h - 1) / stride,
           std::clamp(whole.x, 0, object.w - 1) / stride) += 1.0;
  }
  return counts;
}

/// |probe|^2 of all modes, in the corner of the coarse grid.
WaveStack intensity_on(Shape2 grid, const WaveStack& probe, int stride) {
  WaveStack intensity(1, grid);
  for (int i = 0; i < probe.n(); ++i)
    for (int y = 0; y < std::min(probe.h(), grid.h * stride); ++y)
      for (int x = 0; x < std::min(probe.w(), grid.w * stride); ++x)
        intensity(0, y / stride, x / stride) += std::norm(probe(i, y, x));
  return intensity;
}

/// Circular convolution of the first images.
WaveStack convolved(WaveStack a, WaveStack b) {
  forward_2d(a);
  forward_2d(b);
  std::transform(a.begin(), a.end(), b.begin(), a.begin(), std::multiplies<>());
  inverse_2d(a);
  const double scale = std::sqrt(static_cast<double>(a.shape().size()));
  for (auto& value : a) value *= scale;
  return a;
}

}  // namespace

PixelSet illuminated_region(Shape2 object, std::span<const Vec2> window_corner_px,
                            const WaveStack& probe, int stride, double min) {
  const Shape2 grid{(object.h + stride - 1) / stride, (object.w + stride - 1) / stride};
  // No window reaches past the object, so the convolution does not wrap.
  const WaveStack illumination =
      convolved(corner_counts(object, window_corner_px, probe.shape(), stride, grid),
                intensity_on(grid, probe, stride));
  double max = 0;
  for (const auto& value : illumination) max = std::max(max, value.real());
  PixelSet region(1, grid);
  if (max > 0)
    std::transform(illumination.begin(), illumination.end(), region.begin(),
                   [&](const auto& value) { return value.real() >= min * max ? 1 : 0; });
  return region;
}

Box bounding_box(const PixelSet& region) {
  Box box;
  for (int y = 0; y < region.h(); ++y)
    for (int x = 0; x < region.w(); ++x)
      if (region(0, y, x)) box = hull(box, Box::at({y, x}, {1, 1}));
  return box;
}

ImageStack<double> soft_window(const PixelSet& region, int width_px) {
  // A border of zeros lets the window fall off where the region touches the edge of its array.
  const int reach = std::max(1, width_px);
  const Shape2 padded{region.h() + 2 * reach, region.w() + 2 * reach};
  WaveStack inside(1, padded);
  WaveStack disc(1, padded);
  for (int y = 0; y < region.h(); ++y)
    for (int x = 0; x < region.w(); ++x) inside(0, y + reach, x + reach) = region(0, y, x);
  double area = 0;
  for (int y = -reach; y <= reach; ++y)
    for (int x = -reach; x <= reach; ++x) {
      if (y * y + x * x > reach * reach) continue;
      disc(0, (y + padded.h) % padded.h, (x + padded.w) % padded.w) = 1;
      ++area;
    }
  const WaveStack covered = convolved(inside, disc);
  ImageStack<double> window(1, region.shape());
  for (int y = 0; y < region.h(); ++y)
    for (int x = 0; x < region.w(); ++x) {
      // Half of a disc on a straight edge is inside.
      const double share = covered(0, y + reach, x + reach).real() / area;
      const double depth = region(0, y, x) ? std::clamp(2 * share - 1, 0.0, 1.0) : 0.0;
      window(0, y, x) = std::pow(std::sin(std::numbers::pi / 2 * depth), 2);
    }
  return window;
}

}  // namespace tessera::optics

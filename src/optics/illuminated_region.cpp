#include "optics/illuminated_region.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/optics/host_fft.hpp"

namespace tessera::optics {
namespace {

Shape2 thinned(Shape2 shape, int stride) {
  return {(shape.h + stride - 1) / stride, (shape.w + stride - 1) / stride};
}

/// No shorter, and without large prime factors, which make transforms slow.
int fast_length(int length) {
  constexpr int multiple = 32;
  return length <= multiple ? length : (length + multiple - 1) / multiple * multiple;
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

Illumination::Illumination(Shape2 object, std::span<const Vec2> window_corner_px,
                           const WaveStack& probe, int stride)
    : grid_(thinned(object, stride)), intensity_(1, thinned(probe.shape(), stride)) {
  corners_.reserve(window_corner_px.size());
  for (const Vec2& corner : window_corner_px) {
    const Pixel whole{static_cast<int>(std::lround(corner.y)),
                      static_cast<int>(std::lround(corner.x))};
    // A sub-pixel part may round a window one pixel past the object's end.
    if (whole.y < -1 || whole.x < -1 || whole.y + probe.h() > object.h + 1 ||
        whole.x + probe.w() > object.w + 1)
      throw InputError(text("window_corner_px holds (", corner.y, ", ", corner.x, "): a window of ",
                            probe.h(), " x ", probe.w(), " there lies outside the object of ",
                            object.h, " x ", object.w,
                            " pixels; the file is not a consistent result"));
    corners_.push_back({std::clamp(whole.y, 0, object.h - 1) / stride,
                        std::clamp(whole.x, 0, object.w - 1) / stride});
  }
  std::ranges::sort(corners_, {}, &Pixel::y);
  for (int i = 0; i < probe.n(); ++i)
    for (int y = 0; y < probe.h(); ++y)
      for (int x = 0; x < probe.w(); ++x)
        intensity_(0, y / stride, x / stride) += std::norm(probe(i, y, x));
}

ImageStack<double> Illumination::in(const Box& box) const {
  if (box.empty()) return {};
  // From the first window that reaches the box; so wide that none wraps round into it.
  const Pixel reach{intensity_.h() - 1, intensity_.w() - 1};
  const Box starts{box.begin - reach, box.end};
  const Shape2 padded{fast_length(starts.height()), fast_length(starts.width())};
  std::vector<Pixel> near;
  auto corner = std::ranges::lower_bound(corners_, starts.begin.y, {}, &Pixel::y);
  for (; corner != corners_.end() && corner->y < starts.end.y; ++corner)
    if (starts.contains(*corner)) near.push_back(*corner);
  // Additions of a window's pixels that take as long as the transforms of one pixel.
  constexpr std::int64_t additions_of_transforms = 500;
  const bool few =
      std::ssize(near) * intensity_.shape().size() < additions_of_transforms * padded.size();
  return few ? added_up(near, box) : by_transforms(near, box, padded);
}

ImageStack<double> Illumination::added_up(std::span<const Pixel> corners, const Box& box) const {
  ImageStack<double> out(1, box.shape());
  for (const Pixel corner : corners) {
    const Box part = intersection(Box::at(corner, intensity_.shape()), box);
    for (int y = part.begin.y; y < part.end.y; ++y) {
      const double* from = &intensity_(0, y - corner.y, part.begin.x - corner.x);
      double* to = &out(0, y - box.begin.y, part.begin.x - box.begin.x);
      for (int x = 0; x < part.width(); ++x) to[x] += from[x];
    }
  }
  return out;
}

ImageStack<double> Illumination::by_transforms(std::span<const Pixel> corners, const Box& box,
                                               Shape2 padded) const {
  const Pixel reach{intensity_.h() - 1, intensity_.w() - 1};
  WaveStack counts(1, padded);
  for (const Pixel corner : corners) {
    const Pixel at = corner - box.begin + reach;
    counts(0, at.y, at.x) += 1.0;
  }
  WaveStack window(1, padded);
  for (int y = 0; y < intensity_.h(); ++y)
    for (int x = 0; x < intensity_.w(); ++x) window(0, y, x) = intensity_(0, y, x);
  const WaveStack light = convolved(std::move(counts), std::move(window));
  ImageStack<double> out(1, box.shape());
  for (int y = 0; y < out.h(); ++y)
    for (int x = 0; x < out.w(); ++x) out(0, y, x) = light(0, y + reach.y, x + reach.x).real();
  return out;
}

std::vector<Box> equal_boxes(const Box& whole, int side_px) {
  const int n_down = (whole.height() + side_px - 1) / side_px;
  const int n_right = (whole.width() + side_px - 1) / side_px;
  const auto edge = [](int length, std::int64_t i, int n) {
    return static_cast<int>(length * i / n);
  };
  std::vector<Box> boxes;
  for (int i = 0; i < n_down; ++i)
    for (int j = 0; j < n_right; ++j)
      boxes.push_back(
          moved({{edge(whole.height(), i, n_down), edge(whole.width(), j, n_right)},
                 {edge(whole.height(), i + 1, n_down), edge(whole.width(), j + 1, n_right)}},
                whole.begin));
  return boxes;
}

PixelSet illuminated_region(Shape2 object, std::span<const Vec2> window_corner_px,
                            const WaveStack& probe, int stride, double min) {
  const Illumination illumination(object, window_corner_px, probe, stride);
  constexpr int side_px = 1024;  // bounds the memory of the transforms
  const std::vector<Box> boxes = equal_boxes(Box::at({0, 0}, illumination.shape()), side_px);
  double max = 0;
  for (const Box& box : boxes)
    for (const double value : illumination.in(box)) max = std::max(max, value);
  PixelSet region(1, illumination.shape());
  if (!(max > 0)) return region;
  for (const Box& box : boxes) {
    const ImageStack<double> light = illumination.in(box);
    for (int y = 0; y < light.h(); ++y)
      for (int x = 0; x < light.w(); ++x)
        region(0, box.begin.y + y, box.begin.x + x) = light(0, y, x) >= min * max ? 1 : 0;
  }
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
  const WaveStack covered = convolved(std::move(inside), std::move(disc));
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

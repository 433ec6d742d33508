#include "look_images.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tessera/optics/host_fft.hpp"

#include "scan_orientation.hpp"

namespace tessera::analysis {
namespace {

/// As the detector has it.
ImageStack<double> detector_image(const std::vector<double>& pattern, Shape2 shape) {
  ImageStack<double> image(1, shape);
  std::ranges::copy(pattern, image.begin());
  return optics::centred(image);
}

/// Pixels off the rim for which `stands_out(value, least and greatest of the neighbours)`.
template <class StandsOut>
std::vector<Pixel> pixels_that(const std::vector<double>& sum, Shape2 shape,
                               const StandsOut& stands_out) {
  const ImageStack<double> image = detector_image(sum, shape);
  std::vector<Pixel> found;
  for (int y = 1; y + 1 < shape.h; ++y)
    for (int x = 1; x + 1 < shape.w; ++x) {
      double least = image(0, y - 1, x);
      double greatest = least;
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) {
          if (dy == 0 && dx == 0) continue;
          least = std::min(least, image(0, y + dy, x + dx));
          greatest = std::max(greatest, image(0, y + dy, x + dx));
        }
      if (stands_out(image(0, y, x), least, greatest)) found.push_back({y, x});
    }
  return found;
}

}  // namespace

std::vector<double> centred_logarithm(const std::vector<double>& pattern, Shape2 shape) {
  const ImageStack<double> image = detector_image(pattern, shape);
  std::vector<double> values(image.begin(), image.end());
  for (double& value : values) value = std::log1p(value);
  return values;
}

ImageStack<double> spots_at(const std::vector<Vec2>& positions_m,
                            const std::vector<double>& values) {
  const auto [top, bottom] = std::ranges::minmax(positions_m, {}, &Vec2::y);
  const auto [left, right] = std::ranges::minmax(positions_m, {}, &Vec2::x);
  const double extent = std::max({bottom.y - top.y, right.x - left.x, 1e-300});
  const int side =
      std::clamp(static_cast<int>(3 * std::sqrt(static_cast<double>(values.size()))), 64, 2048);
  const auto size = [&](double length) {
    return 1 + static_cast<int>(length / extent * (side - 1));
  };
  ImageStack<double> image(1, {size(bottom.y - top.y), size(right.x - left.x)});
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int y = size(positions_m[i].y - top.y) - 1;
    const int x = size(positions_m[i].x - left.x) - 1;
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx)
        if (Box::at({0, 0}, image.shape()).contains(Pixel{y + dy, x + dx}))
          image(0, y + dy, x + dx) = values[i];
  }
  return image;
}

std::vector<Vec2> centres_of(std::span<const io::PatternMoments> moments) {
  std::vector<Vec2> centres;
  for (const io::PatternMoments& moment : moments) centres.push_back(moment.centre_px);
  return centres;
}

std::vector<Vec2> scan_field(std::span<const io::PatternMoments> moments, Shape2 raster) {
  std::vector<Vec2> field = centres_of(moments);
  const ScanOrientation turned = find_scan_orientation(field, raster);
  const double c = std::cos(turned.rotation_rad);
  const double s = std::sin(turned.rotation_rad);
  Vec2 mean;
  for (Vec2& at : field) {
    if (turned.transpose) std::swap(at.y, at.x);
    at = {c * at.y - s * at.x, c * at.x + s * at.y};
    mean = mean + at / static_cast<double>(field.size());
  }
  for (Vec2& at : field) at = at - mean;
  return field;
}

std::vector<double> divergence(const std::vector<Vec2>& field, Shape2 raster) {
  std::vector<double> values(field.size());
  const auto at = [&](int y, int x) { return field[static_cast<std::size_t>(y * raster.w + x)]; };
  for (int y = 1; y + 1 < raster.h; ++y)
    for (int x = 1; x + 1 < raster.w; ++x)
      values[static_cast<std::size_t>(y * raster.w + x)] =
          (at(y + 1, x).y - at(y - 1, x).y + at(y, x + 1).x - at(y, x - 1).x) / 2;
  return values;
}

std::vector<double> potential(const std::vector<Vec2>& field, Shape2 raster) {
  WaveStack along(2, raster);
  for (std::size_t i = 0; i < field.size(); ++i) {
    along.image(0)[i] = field[i].y;
    along.image(1)[i] = field[i].x;
  }
  optics::forward_2d(along);
  WaveStack sum(1, raster);
  const std::complex<double> turn(0, 2 * std::numbers::pi);
  for (int y = 0; y < raster.h; ++y)
    for (int x = 0; x < raster.w; ++x) {
      const double ky = optics::frequency(y, raster.h);
      const double kx = optics::frequency(x, raster.w);
      const double k2 = ky * ky + kx * kx;
      if (k2 > 0) sum(0, y, x) = (ky * along(0, y, x) + kx * along(1, y, x)) / (turn * k2);
    }
  optics::inverse_2d(sum);
  std::vector<double> values;
  for (const std::complex<double>& value : sum) values.push_back(value.real());
  return values;
}

std::vector<Pixel> hot_pixels(const std::vector<double>& sum, Shape2 shape) {
  return pixels_that(sum, shape, [](double value, double, double greatest) {
    return value > 10 * greatest && value > 100;
  });
}

std::vector<Pixel> dead_pixels(const std::vector<double>& sum, Shape2 shape) {
  return pixels_that(sum, shape,
                     [](double value, double least, double) { return value == 0 && least > 30; });
}

}  // namespace tessera::analysis

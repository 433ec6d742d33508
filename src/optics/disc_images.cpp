#include "optics/disc_images.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "optics/coarse_map.hpp"

namespace tessera::optics {
namespace {

/// From the least of both axes on.
std::vector<Vec2> from_first(std::vector<Vec2> positions_px) {
  const Vec2 first{std::ranges::min(positions_px, {}, &Vec2::y).y,
                   std::ranges::min(positions_px, {}, &Vec2::x).x};
  for (Vec2& at : positions_px) at = at - first;
  return positions_px;
}

/// 1: half of the light, and more, that the pixel of a photon has on average.
ImageStack<double> bright_pixels(const ImageStack<double>& patterns) {
  ImageStack<double> mean(1, patterns.shape());
  for (int i = 0; i < patterns.n(); ++i)
    for (std::int64_t k = 0; k < mean.shape().size(); ++k) mean.data()[k] += patterns.image(i)[k];
  const double sum = std::accumulate(mean.begin(), mean.end(), 0.0);
  const double squares = std::inner_product(mean.begin(), mean.end(), mean.begin(), 0.0);
  for (double& value : mean) value = value * sum > squares / 2 ? 1 : 0;
  return mean;
}

double light_in(const ImageStack<double>& patterns, int position, Pixel block, int side) {
  double sum = 0;
  for (int i = 0; i < side * side; ++i)
    sum += patterns(position, block.y * side + i / side, block.x * side + i % side);
  return sum;
}

}  // namespace

int block_side(double radius) {
  constexpr int n_across = 10;
  return std::max(1, static_cast<int>(std::ceil(2 * radius / n_across)));
}

std::vector<Pixel> blocks_within(const ImageStack<double>& disc, int side) {
  std::vector<Pixel> blocks;
  for (int y = 0; (y + 1) * side <= disc.h(); ++y)
    for (int x = 0; (x + 1) * side <= disc.w(); ++x) {
      double n_inside = 0;
      for (int i = 0; i < side * side; ++i)
        n_inside += disc(0, y * side + i / side, x * side + i % side);
      if (10 * n_inside >= 8 * side * side) blocks.push_back({y, x});
    }
  return blocks;
}

DiscImages disc_images(const ImageStack<double>& patterns, const std::vector<Vec2>& positions_px,
                       double step_px, int bin) {
  const std::vector<Vec2> at = from_first(positions_px);
  const Shape2 covered{static_cast<int>(std::ranges::max(at, {}, &Vec2::y).y) + 1,
                       static_cast<int>(std::ranges::max(at, {}, &Vec2::x).x) + 1};
  const ImageStack<double> bright = bright_pixels(patterns);
  const int side =
      block_side(std::sqrt(std::accumulate(bright.begin(), bright.end(), 0.0) / std::numbers::pi));
  DiscImages disc{
      .raster = {}, .block_px = side * bin, .blocks = blocks_within(bright, side), .images = {}};
  std::vector<double> light(positions_px.size());
  for (std::size_t block = 0; block < disc.blocks.size(); ++block) {
    for (std::size_t i = 0; i < light.size(); ++i)
      light[i] = light_in(patterns, static_cast<int>(i), disc.blocks[block], side);
    const double mean =
        std::accumulate(light.begin(), light.end(), 0.0) / static_cast<double>(light.size());
    const CoarseMap map = spread(covered, step_px, at, light, mean);
    if (block == 0) {
      disc.raster = map.nodes.shape();
      disc.images = ImageStack<double>(static_cast<int>(disc.blocks.size()), disc.raster);
    }
    std::ranges::copy(map.nodes, disc.images.image(static_cast<int>(block)));
  }
  return disc;
}

}  // namespace tessera::optics

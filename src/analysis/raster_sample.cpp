#include "raster_sample.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::analysis {
namespace {

/// Across the bright disc.
constexpr int n_blocks_across = 10;

/// Of every pixel the number of its block; -1: it belongs to none.
std::vector<int> cut_into_blocks(const Survey& survey, const BeamOnDetector& beam,
                                 RasterSample& sample) {
  const int h = survey.mean.h();
  const int w = survey.mean.w();
  const int side = std::max(1, static_cast<int>(std::ceil(2 * beam.radius_px / n_blocks_across)));
  sample.block_px = side;
  std::vector<int> block_of(survey.mean.size(), -1);
  for (int y = 0; y + side <= h; y += side)
    for (int x = 0; x + side <= w; x += side) {
      int n_in_disc = 0;
      for (int i = 0; i < side * side; ++i)
        n_in_disc += survey.mean(0, y + i / side, x + i % side) >= beam.disc_counts;
      if (n_in_disc == 0 || 10 * n_in_disc < 8 * side * side) continue;
      for (int i = 0; i < side * side; ++i)
        block_of[static_cast<std::size_t>((y + i / side) * w + x + i % side)] =
            static_cast<int>(sample.blocks.size());
      sample.blocks.push_back({y / side, x / side});
    }
  return block_of;
}

}  // namespace

RasterSample sample_raster(io::ScanReader& reader, int n_columns, const Box& positions,
                           const ImageStack<double>& trusted, const Survey& survey,
                           const BeamOnDetector& beam) {
  const io::RecordedPatterns recorded = reader.patterns();
  const Shape2 shape = recorded.shape;
  RasterSample sample;
  sample.raster = positions.shape();
  const std::vector<int> block_of = cut_into_blocks(survey, beam, sample);
  sample.images = ImageStack<double>(static_cast<int>(sample.blocks.size()), sample.raster);
  std::vector<float> pattern(static_cast<std::size_t>(shape.size()));
  for (int row = positions.begin.y; row < positions.end.y; ++row)
    for (int column = positions.begin.x; column < positions.end.x; ++column) {
      const Pixel place =
          recorded.raster.empty() ? Pixel{row * n_columns + column, 0} : Pixel{row, column};
      reader.read_patterns(Box::at(place, {1, 1}), Box::at({0, 0}, shape),
                           reinterpret_cast<std::byte*>(pattern.data()));
      double sum = 0;
      Vec2 moment;
      for (int y = 0; y < shape.h; ++y)
        for (int x = 0; x < shape.w; ++x) {
          const auto pixel = static_cast<std::size_t>(y * shape.w + x);
          const double value = pattern[pixel];
          const bool counts = std::isfinite(value) && value >= 0 && value < survey.greatest &&
                              (trusted.n() == 0 || trusted.data()[pixel] != 0);
          if (!counts) continue;
          sum += value;
          moment = moment + value * Vec2{double(y), double(x)};
          if (block_of[pixel] >= 0)
            sample.images(block_of[pixel], row - positions.begin.y, column - positions.begin.x) +=
                value;
        }
      sample.counts.push_back(sum);
      sample.centres.push_back(sum > 0 ? moment / sum : Vec2{});
    }
  return sample;
}

}  // namespace tessera::analysis

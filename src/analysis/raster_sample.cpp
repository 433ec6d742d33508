#include "raster_sample.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::analysis {
namespace {

/// Of every pixel the number of its block; -1: it belongs to none.
std::vector<int> cut_into_blocks(const Survey& survey, const BeamOnDetector& beam,
                                 RasterSample& sample) {
  ImageStack<double> disc(1, survey.mean.shape());
  std::ranges::transform(survey.mean, disc.begin(),
                         [&](double mean) { return mean >= beam.disc_counts ? 1.0 : 0.0; });
  const int side = optics::block_side(beam.radius_px);
  sample.disc.block_px = side;
  sample.disc.blocks = optics::blocks_within(disc, side);
  std::vector<int> block_of(survey.mean.size(), -1);
  for (std::size_t block = 0; block < sample.disc.blocks.size(); ++block) {
    const Pixel first{side * sample.disc.blocks[block].y, side * sample.disc.blocks[block].x};
    for (int i = 0; i < side * side; ++i)
      block_of[static_cast<std::size_t>((first.y + i / side) * disc.w() + first.x + i % side)] =
          static_cast<int>(block);
  }
  return block_of;
}

/// Boxes that are read at once, so that a chunk of the file is decoded once or a few times.
std::vector<Box> pieces_of(const Box& positions, const io::RecordedPatterns& recorded) {
  const std::int64_t most =
      std::max<std::int64_t>(1, (std::int64_t{16} << 20) / recorded.shape.size());
  const int columns = static_cast<int>(std::min<std::int64_t>(positions.width(), most));
  const int rows =
      recorded.raster.empty() ? 1 : static_cast<int>(std::max<std::int64_t>(1, most / columns));
  std::vector<Box> pieces;
  for (int y = positions.begin.y; y < positions.end.y; y += rows)
    for (int x = positions.begin.x; x < positions.end.x; x += columns)
      pieces.push_back(
          {{y, x}, {std::min(y + rows, positions.end.y), std::min(x + columns, positions.end.x)}});
  return pieces;
}

/// @param width of the detector
void add_pattern(const float* pattern, int width, Pixel at, const std::vector<int>& block_of,
                 const ImageStack<double>& trusted, double greatest, RasterSample& sample) {
  double sum = 0;
  Vec2 moment;
  for (std::size_t pixel = 0; pixel < block_of.size(); ++pixel) {
    const double value = pattern[pixel];
    const bool counts = std::isfinite(value) && value >= 0 && value < greatest &&
                        (trusted.n() == 0 || trusted.data()[pixel] != 0);
    if (!counts) continue;
    sum += value;
    const auto y = static_cast<double>(pixel / static_cast<std::size_t>(width));
    const auto x = static_cast<double>(pixel % static_cast<std::size_t>(width));
    moment = moment + value * Vec2{y, x};
    if (block_of[pixel] >= 0) sample.disc.images(block_of[pixel], at.y, at.x) += value;
  }
  const auto position = static_cast<std::size_t>(at.y * sample.disc.raster.w + at.x);
  sample.counts[position] = sum;
  sample.centres[position] = sum > 0 ? moment / sum : Vec2{};
}

}  // namespace

RasterSample sample_raster(io::ScanReader& reader, int n_columns, const Box& positions,
                           const ImageStack<double>& trusted, const Survey& survey,
                           const BeamOnDetector& beam) {
  const io::RecordedPatterns recorded = reader.patterns();
  const Shape2 shape = recorded.shape;
  RasterSample sample;
  sample.disc.raster = positions.shape();
  const std::vector<int> block_of = cut_into_blocks(survey, beam, sample);
  sample.disc.images =
      ImageStack<double>(static_cast<int>(sample.disc.blocks.size()), sample.disc.raster);
  sample.counts.resize(static_cast<std::size_t>(sample.disc.raster.size()));
  sample.centres.resize(sample.counts.size());
  std::vector<float> patterns;
  const auto n_pixels = static_cast<std::size_t>(shape.size());
  for (const Box& piece : pieces_of(positions, recorded)) {
    // Without an axis of columns the file has them one after another.
    const Box in_file =
        recorded.raster.empty()
            ? Box::at({piece.begin.y * n_columns + piece.begin.x, 0}, {piece.width(), 1})
            : piece;
    patterns.resize(static_cast<std::size_t>(piece.area()) * n_pixels);
    reader.read_patterns(in_file, Box::at({0, 0}, shape),
                         reinterpret_cast<std::byte*>(patterns.data()));
    for (int p = 0; p < piece.area(); ++p) {
      const Pixel at = piece.begin - positions.begin + Pixel{p / piece.width(), p % piece.width()};
      add_pattern(patterns.data() + static_cast<std::size_t>(p) * n_pixels, shape.w, at, block_of,
                  trusted, survey.greatest, sample);
    }
  }
  return sample;
}

}  // namespace tessera::analysis

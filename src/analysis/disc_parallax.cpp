#include "disc_parallax.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <utility>

#include "tessera/optics/host_fft.hpp"

namespace tessera::analysis {
namespace {

/// Peaks of noise are up to some 5 standard deviations high.
constexpr double least_peak = 6.5;
constexpr double least_correlation = 0.05;
/// Of the first: farther apart, less is the same.
constexpr double least_of_first = 0.4;

/// Contrast of a block's image, faded out to its edges, transformed.
WaveStack spectrum_of(const RasterSample& sample, int block) {
  const auto [h, w] = sample.raster;
  const double* const image = sample.images.image(block);
  const double mean = std::accumulate(image, image + h * w, 0.0) / (h * w);
  WaveStack spectrum(1, sample.raster);
  for (int y = 0; mean > 0 && y < h; ++y)
    for (int x = 0; x < w; ++x)
      spectrum(0, y, x) = (image[y * w + x] / mean - 1) *
                          std::sin(std::numbers::pi * (y + 0.5) / h) *
                          std::sin(std::numbers::pi * (x + 0.5) / w);
  optics::forward_2d(spectrum);
  return spectrum;
}

struct Peak {
  Vec2 at;
  double correlation = 0;
  double deviations = 0;  ///< standard ones, above what is all around
};

/// The average correlation of pairs of blocks so far apart.
class BlockPairs {
 public:
  explicit BlockPairs(const RasterSample& sample) : raster_(sample.raster) {
    for (std::size_t i = 0; i < sample.blocks.size(); ++i)
      spectra_.emplace(std::pair{sample.blocks[i].y, sample.blocks[i].x},
                       spectrum_of(sample, static_cast<int>(i)));
  }

  /// The highest peak within `reach` of `near`; nothing if there are too few pairs.
  std::optional<Peak> peak(Pixel apart, Vec2 near, double reach) const {
    WaveStack product(1, raster_);
    double energy = 0;
    int n_pairs = 0;
    for (const auto& [place, first] : spectra_) {
      const auto other = spectra_.find({place.first + apart.y, place.second + apart.x});
      if (other == spectra_.end()) continue;
      const WaveStack& second = other->second;
      double of_first = 0;
      double of_second = 0;
      for (std::size_t i = 1; i < first.size(); ++i) {
        product.data()[i] += second.data()[i] * std::conj(first.data()[i]);
        of_first += std::norm(first.data()[i]);
        of_second += std::norm(second.data()[i]);
      }
      energy += std::sqrt(of_first * of_second);
      ++n_pairs;
    }
    if (n_pairs < 3 || energy == 0) return {};
    optics::inverse_2d(product);
    return highest(product, std::sqrt(static_cast<double>(raster_.size())) / energy, near, reach);
  }

 private:
  Peak highest(const WaveStack& product, double scale, Vec2 near, double reach) const {
    const auto [h, w] = raster_;
    const auto value = [&](int y, int x) {
      return scale * product(0, (y + h) % h, (x + w) % w).real();
    };
    Peak best{.at = {}, .correlation = -1};
    Pixel at;
    double squares = 0;
    for (int y = -h / 2; y < h - h / 2; ++y)
      for (int x = -w / 2; x < w - w / 2; ++x) {
        squares += value(y, x) * value(y, x);
        if (std::hypot(y - near.y, x - near.x) > reach || value(y, x) <= best.correlation) continue;
        best.correlation = value(y, x);
        at = {y, x};
      }
    const auto vertex = [](double before, double middle, double after) {
      const double curvature = before - 2 * middle + after;
      return curvature < 0 ? std::clamp(0.5 * (before - after) / curvature, -0.5, 0.5) : 0;
    };
    best.at = {at.y + vertex(value(at.y - 1, at.x), value(at.y, at.x), value(at.y + 1, at.x)),
               at.x + vertex(value(at.y, at.x - 1), value(at.y, at.x), value(at.y, at.x + 1))};
    best.deviations = best.correlation / std::sqrt(squares / static_cast<double>(h * w));
    return best;
  }

  Shape2 raster_;
  std::map<std::pair<int, int>, WaveStack> spectra_;
};

struct Shift {
  Vec2 per_block;
  int n_blocks = 0;  ///< over which it was found
  double correlation = 0;
};

std::optional<Shift> shift_along(const BlockPairs& pairs, Pixel direction, Shape2 raster) {
  const double quarter = std::min(raster.h, raster.w) / 4.0;
  const auto first = pairs.peak(direction, {}, quarter);
  if (!first || first->deviations < least_peak || first->correlation < least_correlation) return {};
  Shift shift{first->at, 1, first->correlation};
  for (int n = 2;; ++n) {
    const Vec2 expected = n * shift.per_block;
    const auto found = pairs.peak({n * direction.y, n * direction.x}, expected, 1.5);
    if (!found || found->correlation < least_of_first * first->correlation) return shift;
    shift = {found->at / n, n, found->correlation};
  }
}

}  // namespace

std::optional<DiscParallax> find_disc_parallax(const RasterSample& sample) {
  const BlockPairs pairs(sample);
  const auto along_y = shift_along(pairs, {1, 0}, sample.raster);
  const auto along_x = shift_along(pairs, {0, 1}, sample.raster);
  if (!along_y || !along_x) return {};
  const Vec2 y = along_y->per_block;
  const Vec2 x = along_x->per_block;
  const double longest = along_y->n_blocks * std::hypot(y.y, y.x);
  const double squares = y.y * y.y + y.x * y.x + x.y * x.y + x.x * x.x;
  const double determinant = y.y * x.x - y.x * x.y;
  if (longest < 1 || std::abs(determinant) < 0.8 * squares / 2) return {};
  const double per_px = 1.0 / sample.block_px;
  return DiscParallax{per_px * y.y, per_px * x.y, per_px * y.x, per_px * x.x,
                      std::min(along_y->correlation, along_x->correlation)};
}

}  // namespace tessera::analysis

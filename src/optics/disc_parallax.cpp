#include "optics/disc_parallax.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "tessera/optics/host_fft.hpp"

#include "optics/coarse_map.hpp"

namespace tessera::optics {
namespace {

constexpr double quarter_turn = std::numbers::pi / 2;
/// Less may be noise.
constexpr double least_correlation = 0.1;
/// Features that are larger than the shifts look alike across them, too, but not as much.
constexpr double times_chance = 2;
constexpr double above_chance = 0.15;
/// Where images so shifted share less of one another, nothing is known.
constexpr double least_shared = 0.3;

using Place = std::pair<int, int>;

/// To the edges of an image.
double faded(Shape2 raster, int y, int x) {
  return std::sin(std::numbers::pi * (y + 0.5) / raster.h) *
         std::sin(std::numbers::pi * (x + 0.5) / raster.w);
}

/// What two images share of themselves, so faded and shifted: 1 where they are not.
WaveStack shared_parts(Shape2 raster) {
  WaveStack fade(1, raster);
  for (int y = 0; y < raster.h; ++y)
    for (int x = 0; x < raster.w; ++x) fade(0, y, x) = faded(raster, y, x);
  forward_2d(fade);
  for (auto& value : fade) value = std::norm(value);
  inverse_2d(fade);
  const auto whole = fade(0, 0, 0);
  for (auto& value : fade) value /= whole;
  return fade;
}

/// Contrast of a block's image, faded, transformed.
struct Block {
  WaveStack spectrum;
  double energy = 0;  ///< without its mean
};

Block block_of(const DiscImages& disc, int number) {
  const auto [h, w] = disc.raster;
  const double* const image = disc.images.image(number);
  const double mean = std::accumulate(image, image + h * w, 0.0) / (h * w);
  WaveStack spectrum(1, disc.raster);
  for (int y = 0; mean > 0 && y < h; ++y)
    for (int x = 0; x < w; ++x)
      spectrum(0, y, x) = (image[y * w + x] / mean - 1) * faded(disc.raster, y, x);
  forward_2d(spectrum);
  spectrum(0, 0, 0) = 0;
  double energy = 0;
  for (const auto& value : spectrum) energy += std::norm(value);
  return {std::move(spectrum), energy};
}

double radius_of(const std::vector<Pixel>& blocks) {
  return std::sqrt(static_cast<double>(blocks.size()) / std::numbers::pi);
}

/// Blocks that have all others within a quarter of the disc's radius around them. Near its edge one
/// side of what the sample diffracts is missing: images there are displaced by more than the
/// defocus, and have most of the contrast.
std::map<Place, Block> inner_blocks(const DiscImages& disc) {
  const double rim = 0.25 * radius_of(disc.blocks);
  const auto reach = static_cast<int>(rim);
  std::map<Place, int> all;
  for (std::size_t i = 0; i < disc.blocks.size(); ++i)
    all.emplace(Place{disc.blocks[i].y, disc.blocks[i].x}, static_cast<int>(i));
  const auto is_inner = [&](Place at) {
    for (int y = -reach; y <= reach; ++y)
      for (int x = -reach; x <= reach; ++x)
        if (std::hypot(y, x) <= rim && !all.contains({at.first + y, at.second + x})) return false;
    return true;
  };
  std::map<Place, Block> inner;
  for (const auto& [at, number] : all)
    if (is_inner(at)) inner.emplace(at, block_of(disc, number));
  return inner;
}

/// Of four nodes, `at` from the second to the third (Keys 1981, IEEE Trans. ASSP 29, 1153, a =
/// -1/2).
std::array<double, 4> cubic_weights(double at) {
  const double rest = 1 - at;
  return {-0.5 * at * rest * rest, 1 + at * at * (1.5 * at - 2.5),
          1 + rest * rest * (1.5 * rest - 2.5), -0.5 * rest * at * at};
}

/// Images of all pairs of blocks, correlated; those as far apart together.
class BlockPairs {
 public:
  explicit BlockPairs(const DiscImages& disc) : raster_(disc.raster) {
    if (disc.blocks.empty() || std::min(raster_.h, raster_.w) < 4) return;
    const WaveStack shared = shared_parts(raster_);
    const std::map<Place, Block> blocks = inner_blocks(disc);
    for (const auto& [at, first] : blocks)
      for (auto other = blocks.upper_bound(at); other != blocks.end(); ++other)
        add({other->first.first - at.first, other->first.second - at.second}, first, other->second);
    std::erase_if(lags_, [](const auto& lag) { return lag.second.n_pairs < 3; });
    for (auto& [apart, lag] : lags_) {
      extent_ = std::max(extent_, std::hypot(apart.first, apart.second));
      energy_ += lag.energy;
      inverse_2d(lag.product);
      for (std::size_t i = 0; i < shared.size(); ++i)
        lag.product.data()[i] *= std::sqrt(static_cast<double>(raster_.size())) /
                                 std::max(least_shared, shared.data()[i].real());
    }
  }

  Shape2 raster() const { return raster_; }
  /// Of the disc, in blocks.
  double extent() const { return extent_; }

  /// Correlation of images that are shifted by (yy y + yx x, xy y + xx x) nodes for blocks (y, x)
  /// between them.
  double under(const std::array<double, 4>& matrix) const {
    const auto [yy, yx, xy, xx] = matrix;
    double found = 0;
    double energy = 0;
    for (const auto& [apart, lag] : lags_) {
      const Vec2 moved{yy * apart.first + yx * apart.second, xy * apart.first + xx * apart.second};
      if (std::abs(moved.y) > raster_.h / 2.0 - 1 || std::abs(moved.x) > raster_.w / 2.0 - 1)
        continue;
      found += interpolated(lag.product, moved);
      energy += lag.energy;
    }
    // Few pairs say little.
    const double least = 0.2 * energy_;
    return energy_ > 0 ? found / std::max(energy, least) : 0;
  }

 private:
  struct Lag {
    WaveStack product;
    double energy = 0;
    int n_pairs = 0;
  };

  void add(Place apart, const Block& first, const Block& second) {
    Lag& lag = lags_.try_emplace(apart, Lag{WaveStack(1, raster_)}).first->second;
    for (std::size_t i = 0; i < lag.product.size(); ++i)
      lag.product.data()[i] += second.spectrum.data()[i] * std::conj(first.spectrum.data()[i]);
    lag.energy += std::sqrt(first.energy * second.energy);
    ++lag.n_pairs;
  }

  /// Between the nodes about `at`, periodic. Linear interpolation would be too low there, and pull
  /// shifts to whole nodes.
  double interpolated(const WaveStack& values, Vec2 at) const {
    const auto y0 = static_cast<int>(std::floor(at.y));
    const auto x0 = static_cast<int>(std::floor(at.x));
    const std::array<double, 4> along_y = cubic_weights(at.y - y0);
    const std::array<double, 4> along_x = cubic_weights(at.x - x0);
    double sum = 0;
    for (int j = 0; j < 4; ++j)
      for (int i = 0; i < 4; ++i)
        sum += along_y[static_cast<std::size_t>(j)] * along_x[static_cast<std::size_t>(i)] *
               values(0, (y0 + j - 1 + raster_.h) % raster_.h, (x0 + i - 1 + raster_.w) % raster_.w)
                   .real();
    return sum;
  }

  Shape2 raster_;
  std::map<Place, Lag> lags_;
  double energy_ = 0;
  double extent_ = 1;
};

/// @param shift nodes for each block
DiscParallax evaluated(const BlockPairs& pairs, double shift, double rotation_rad,
                       bool is_exchanged) {
  const double c = -shift * std::cos(rotation_rad);
  const double s = -shift * std::sin(rotation_rad);
  const double correlation =
      pairs.under(is_exchanged ? std::array{-s, c, c, s} : std::array{c, -s, s, c});
  return {shift, rotation_rad, is_exchanged, correlation};
}

/// Of both signs: from where a shift is seen at all, one node across the disc, to where images of
/// neighbours hardly overlap.
std::vector<double> possible_shifts(const BlockPairs& pairs) {
  const double most = 2.0 * std::min(pairs.raster().h, pairs.raster().w) / pairs.extent();
  std::vector<double> shifts;
  for (double shift = 1 / pairs.extent(); shift < most; shift *= 1.05)
    shifts.insert(shifts.end(), {shift, -shift});
  return shifts;
}

/// Uphill, by steps that shrink.
DiscParallax climbed(const BlockPairs& pairs, DiscParallax best, double step_rad) {
  for (double step = 0.04; step > 1e-3; step /= 2, step_rad /= 2)
    for (const auto& [size, turn] :
         {std::pair{1 - step, 0.0}, {1 / (1 - step), 0.0}, {1.0, -step_rad}, {1.0, step_rad}}) {
      const DiscParallax tried =
          evaluated(pairs, size * best.shift_per_px, best.rotation_rad + turn, best.is_exchanged);
      if (tried.correlation > best.correlation) best = tried;
    }
  return best;
}

/// The best of some turns, a quarter at most, without any if `n_turns` is 0.
DiscParallax best_of(const BlockPairs& pairs, int n_turns) {
  DiscParallax best{.correlation = -1};
  const std::vector<double> shifts = possible_shifts(pairs);
  const double step_rad = n_turns > 0 ? quarter_turn / n_turns : 0;
  for (const bool is_exchanged : {false, true})
    for (int turn = -n_turns; turn <= n_turns && (n_turns > 0 || !is_exchanged); ++turn)
      for (const double shift : shifts) {
        const DiscParallax tried = evaluated(pairs, shift, turn * step_rad, is_exchanged);
        if (tried.correlation > best.correlation) best = tried;
      }
  best = climbed(pairs, best, step_rad / 2);
  best.chance = evaluated(pairs, 0, 0, false).correlation;
  for (const double shift : shifts)
    for (const double turn : {quarter_turn - 0.3, quarter_turn, quarter_turn + 0.3})
      best.chance = std::max(
          best.chance,
          evaluated(pairs, shift, best.rotation_rad + turn, best.is_exchanged).correlation);
  return best;
}

/// Of nodes and blocks.
DiscParallax in_pixels(DiscParallax parallax, double node_px, int block_px) {
  parallax.shift_per_px *= node_px / block_px;
  return parallax;
}

}  // namespace

bool is_near_focus(double defocus_m, double semi_angle_rad, double wavelength_m) {
  constexpr double depths_of_field = 3;
  return std::abs(defocus_m) * semi_angle_rad * semi_angle_rad < depths_of_field * wavelength_m;
}

bool DiscParallax::is_clear() const {
  return correlation >= least_correlation &&
         correlation >= std::min(times_chance * chance, chance + above_chance);
}

DiscParallax turned_parallax(const DiscImages& disc) {
  return in_pixels(best_of(BlockPairs(disc), 18), 1, disc.block_px);
}

ScanParallax scan_parallax(const ImageStack<double>& patterns,
                           const std::vector<Vec2>& positions_px, int bin) {
  const double step_px = coarse_step_px(positions_px);
  const DiscImages disc = disc_images(patterns, positions_px, step_px, bin);
  const BlockPairs pairs(disc);
  return {in_pixels(best_of(pairs, 0), step_px, disc.block_px),
          in_pixels(best_of(pairs, 18), step_px, disc.block_px),
          disc.block_px * radius_of(disc.blocks)};
}

}  // namespace tessera::optics

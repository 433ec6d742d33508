#include "optics/feature_motion.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "tessera/optics/host_fft.hpp"

#include "base/thread.hpp"

namespace tessera::optics {
namespace {

double total(const double* image, std::int64_t n) {
  return std::accumulate(image, image + n, 0.0);
}

ImageStack<double> mean_of(const ImageStack<double>& patterns) {
  ImageStack<double> mean(1, patterns.shape());
  for (int i = 0; i < patterns.n(); ++i)
    for (std::int64_t k = 0; k < mean.shape().size(); ++k)
      mean.data()[k] += patterns.image(i)[k] / patterns.n();
  return mean;
}

double energy(const ImageStack<double>& image) {
  return std::inner_product(image.begin(), image.end(), image.begin(), 0.0);
}

/// In the corner of an image twice as large, so that correlations do not wrap around; transformed.
WaveStack padded_spectrum(const ImageStack<double>& image) {
  WaveStack padded(1, {2 * image.h(), 2 * image.w()});
  for (int y = 0; y < image.h(); ++y)
    for (int x = 0; x < image.w(); ++x) padded(0, y, x) = image(0, y, x);
  forward_2d(padded);
  return padded;
}

/// sum_r a(r) b(r + s), s periodic.
ImageStack<float> correlation(const WaveStack& a, const WaveStack& b) {
  WaveStack product = a;
  for (std::size_t i = 0; i < product.size(); ++i)
    product.data()[i] = std::conj(a.data()[i]) * b.data()[i];
  inverse_2d(product);
  ImageStack<float> values(1, product.shape());
  const double scale = std::sqrt(static_cast<double>(product.size()));  // of unitary transforms
  std::ranges::transform(product, values.begin(), [&](const auto& value) {
    return static_cast<float>(scale * value.real());
  });
  return values;
}

/// Between the four pixels about `at`, periodic.
double interpolated(const ImageStack<float>& image, Vec2 at) {
  const double y0 = std::floor(at.y);
  const double x0 = std::floor(at.x);
  const double v = at.y - y0;
  const double u = at.x - x0;
  const auto pixel = [&](int dy, int dx) -> double {
    const int y = static_cast<int>(y0) + dy;
    const int x = static_cast<int>(x0) + dx;
    return image(0, (y + image.h()) % image.h(), (x + image.w()) % image.w());
  };
  return (1 - v) * ((1 - u) * pixel(0, 0) + u * pixel(0, 1)) +
         v * ((1 - u) * pixel(1, 0) + u * pixel(1, 1));
}

/// Correlations of all pairs, and how well a motion explains them.
class Correlations {
 public:
  Correlations(const ImageStack<double>& patterns, const std::vector<PatternPair>& pairs)
      : pairs_(pairs), mean_(mean_of(patterns)), reach_{patterns.h() - 1.0, patterns.w() - 1.0} {
    ImageStack<double> beam = mean_;
    for (double& value : beam) value = std::sqrt(value);
    const WaveStack spectrum = padded_spectrum(beam);
    of_beam_ = correlation(spectrum, spectrum);
    of_pairs_.resize(pairs.size());
    std::vector<double> energies(pairs.size());
    share_failing_work(
        pairs.size(), static_cast<std::size_t>(processors()), [&](std::size_t, std::size_t i) {
          const auto [a, b] = pairs[i];
          const ImageStack<double> first = contrast(patterns, a);
          const ImageStack<double> second = contrast(patterns, b);
          of_pairs_[i] = correlation(padded_spectrum(first), padded_spectrum(second));
          energies[i] = std::sqrt(energy(first) * energy(second));
        });
    energy_ = std::accumulate(energies.begin(), energies.end(), 0.0);
  }

  Shape2 shape() const { return mean_.shape(); }

  void place(const std::vector<Vec2>& positions_px) {
    apart_.clear();
    for (const auto& [a, b] : pairs_) apart_.push_back(positions_px[a] - positions_px[b]);
  }

  double under(const FeatureMotion& m) const {
    double found = 0;
    double shared = 0;
    for (std::size_t i = 0; i < apart_.size(); ++i) {
      const Vec2 d = apart_[i];
      const Vec2 moved{m.yy * d.y + m.yx * d.x, m.yx * d.y + m.xx * d.x};
      const bool overlap = std::abs(moved.y) <= reach_.y && std::abs(moved.x) <= reach_.x;
      if (!overlap) continue;  // nor do positions that are no numbers
      found += interpolated(of_pairs_[i], moved);
      shared += interpolated(of_beam_, moved) / of_beam_(0, 0, 0);
    }
    // Little in common says little.
    const auto n_pairs = static_cast<double>(apart_.size());
    const double least = 0.2 * n_pairs;
    return energy_ > 0 ? found / std::max(shared, least) / (energy_ / n_pairs) : 0;
  }

 private:
  ImageStack<double> contrast(const ImageStack<double>& patterns, int i) const {
    const std::int64_t n = mean_.shape().size();
    const double scale = total(mean_.data(), n) / std::max(1.0, total(patterns.image(i), n));
    // Where there is next to no light there is nothing but noise.
    const double dark = 0.01 * *std::ranges::max_element(mean_);
    ImageStack<double> out(1, mean_.shape());
    for (std::int64_t k = 0; k < n; ++k)
      out.data()[k] = dark > 0 ? (scale * patterns.image(i)[k] - mean_.data()[k]) /
                                     std::sqrt(mean_.data()[k] + dark)
                               : 0;
    return out;
  }

  std::vector<PatternPair> pairs_;
  ImageStack<double> mean_;
  Vec2 reach_;
  ImageStack<float> of_beam_;
  std::vector<ImageStack<float>> of_pairs_;
  std::vector<Vec2> apart_;
  double energy_ = 0;
};

FeatureMotion evaluated(FeatureMotion motion, const Correlations& correlations) {
  motion.correlation = correlations.under(motion);
  return motion;
}

FeatureMotion isotropic(double m, const Correlations& correlations) {
  return evaluated({.yy = m, .xx = m}, correlations);
}

/// The best motion by the same factor in all directions.
/// @param sign of the factors; `least` and `most` are their sizes
FeatureMotion best_isotropic(const Correlations& correlations, double least, double most,
                             int sign) {
  FeatureMotion best{.correlation = -1};
  for (double m = least; m < most; m *= 1.02) {
    const FeatureMotion tried = isotropic(sign * m, correlations);
    if (tried.correlation > best.correlation) best = tried;
  }
  return best;
}

/// Of motions by the same factor in all directions, from 1/4 to 4; none: no correlation.
FeatureMotion highest_peak(const Correlations& correlations) {
  FeatureMotion best;
  FeatureMotion before = isotropic(0.25, correlations);
  FeatureMotion here = isotropic(0.25 * 1.02, correlations);
  while (here.yy < 4) {
    const FeatureMotion next = isotropic(here.yy * 1.02, correlations);
    const bool is_peak =
        here.correlation > before.correlation && here.correlation > next.correlation;
    if (is_peak && here.correlation > best.correlation) best = here;
    before = here;
    here = next;
  }
  return best;
}

/// Uphill, along size, stretch and shear in turn, by steps that shrink.
FeatureMotion climbed(FeatureMotion best, const Correlations& correlations) {
  constexpr std::array<std::array<double, 3>, 3> axes{{{1, 0, 1}, {1, 0, -1}, {0, 1, 0}}};
  for (double step = 0.1; step > 1e-3;) {
    const double before = best.correlation;
    for (const auto& [yy, yx, xx] : axes)
      for (const double along : {step, -step}) {
        const FeatureMotion tried = evaluated(
            {best.yy + along * yy, best.yx + along * yx, best.xx + along * xx}, correlations);
        if (tried.correlation > best.correlation) best = tried;
      }
    if (best.correlation == before) step /= 2;
  }
  return best;
}

/// About the middle, of the circle that holds nine tenths of the counts.
double lit_radius_px(const ImageStack<double>& patterns) {
  const ImageStack<double> mean = mean_of(patterns);
  std::vector<std::pair<double, double>> pixels;  // radius, counts
  for (int y = 0; y < mean.h(); ++y)
    for (int x = 0; x < mean.w(); ++x)
      pixels.emplace_back(std::hypot(y - mean.h() / 2, x - mean.w() / 2), mean(0, y, x));
  std::ranges::sort(pixels);
  double left = 0.9 * total(mean.data(), mean.shape().size());
  for (const auto& [radius, counts] : pixels) {
    left -= counts;
    if (left <= 0) return radius;
  }
  return pixels.back().first;
}

int nearest_to_distance(const std::vector<Vec2>& positions_px, int from, double distance_px) {
  int nearest = from == 0 ? 1 : 0;
  double off_px = std::numeric_limits<double>::infinity();
  for (int i = 0; i < static_cast<int>(positions_px.size()); ++i) {
    const Vec2 apart = positions_px[i] - positions_px[from];
    const double here = std::abs(std::sqrt(apart.y * apart.y + apart.x * apart.x) - distance_px);
    if (i == from || !(here < off_px)) continue;  // nor what is no number
    nearest = i;
    off_px = here;
  }
  return nearest;
}

}  // namespace

std::vector<PatternPair> spread_pairs(const std::vector<Vec2>& positions_px, Shape2 window,
                                      const std::array<double, 3>& apart) {
  constexpr std::int64_t n_bases = 48;
  const auto n = static_cast<std::int64_t>(positions_px.size());
  std::set<std::pair<int, int>> chosen;
  for (std::int64_t i = 0; n > 1 && i < std::min(n, n_bases); ++i) {
    const int base = static_cast<int>(i * n / std::min(n, n_bases));
    for (const double part : apart) {
      const int other =
          nearest_to_distance(positions_px, base, part * std::min(window.h, window.w));
      chosen.insert(std::minmax(base, other));
    }
  }
  std::vector<PatternPair> pairs;
  pairs.reserve(chosen.size());
  for (const auto& [first, second] : chosen) pairs.push_back({first, second});
  return pairs;
}

std::vector<int> renumber(std::vector<PatternPair>& pairs) {
  std::vector<int> named;
  for (const auto& [first, second] : pairs) named.insert(named.end(), {first, second});
  std::ranges::sort(named);
  named.erase(std::unique(named.begin(), named.end()), named.end());
  const auto place = [&](int pattern) {
    return static_cast<int>(std::ranges::lower_bound(named, pattern) - named.begin());
  };
  for (auto& [first, second] : pairs) {
    first = place(first);
    second = place(second);
  }
  return named;
}

FeatureMotion feature_motion(const ImageStack<double>& patterns,
                             const std::vector<Vec2>& positions_px,
                             const std::vector<PatternPair>& pairs) {
  Correlations correlations(patterns, pairs);
  std::vector<Vec2> across;
  across.reserve(positions_px.size());
  for (const Vec2& p : positions_px) across.push_back({-p.x, p.y});
  correlations.place(across);
  const double chance = highest_peak(correlations).correlation;
  correlations.place(positions_px);
  FeatureMotion motion = climbed(highest_peak(correlations), correlations);
  motion.flat_correlation = correlations.under({});
  motion.chance = chance;
  return motion;
}

namespace {

FeatureMotion best_shadow_motion(const Correlations& correlations, double lit_px, int bin) {
  const double least = 2 * lit_px / std::min(correlations.shape().h, correlations.shape().w);
  const double most = bin * lit_px / 1.5;
  const FeatureMotion forward = best_isotropic(correlations, least, most, 1);
  const FeatureMotion backward = best_isotropic(correlations, least, most, -1);
  const bool is_backward = backward.correlation > forward.correlation;
  FeatureMotion best = is_backward ? backward : forward;
  best.flat_correlation = std::max(isotropic(0, correlations).correlation,
                                   is_backward ? forward.correlation : backward.correlation);
  constexpr double of_ends = 0.75;  // they mean something, but less than what lies between them
  for (const double beyond : {least / 1.1, most * 1.1})
    best.flat_correlation =
        std::max(best.flat_correlation,
                 of_ends * isotropic(is_backward ? -beyond : beyond, correlations).correlation);
  return best;
}

}  // namespace

FeatureMotion shadow_motion(const ImageStack<double>& patterns,
                            const std::vector<Vec2>& positions_px,
                            const std::vector<PatternPair>& pairs, int bin) {
  return shadow_motions(patterns, {positions_px}, pairs, bin).front();
}

std::vector<FeatureMotion> shadow_motions(const ImageStack<double>& patterns,
                                          const std::vector<std::vector<Vec2>>& positions_px,
                                          const std::vector<PatternPair>& pairs, int bin) {
  Correlations correlations(patterns, pairs);
  const double lit = lit_radius_px(patterns);
  std::vector<FeatureMotion> motions;
  for (const std::vector<Vec2>& placed : positions_px) {
    correlations.place(placed);
    motions.push_back(best_shadow_motion(correlations, lit, bin));
  }
  return motions;
}

double defocus_m(const FeatureMotion& motion, int window, double pixel_m, double wavelength_m) {
  return window * pixel_m * pixel_m / (wavelength_m * motion.yy);
}

Curvature curvature_on_detector(const FeatureMotion& motion, double distance_m) {
  const double determinant = motion.yy * motion.xx - motion.yx * motion.yx;
  return {(1 - motion.xx / determinant) / distance_m, motion.yx / determinant / distance_m,
          (1 - motion.yy / determinant) / distance_m};
}

}  // namespace tessera::optics

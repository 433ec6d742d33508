#include "shadow_motion.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "tessera/optics/host_fft.hpp"

namespace tessera::analysis {
namespace {

constexpr int max_side_px = 512;
constexpr int max_sources = 16;
/// Peaks of noise are up to some 5 standard deviations high.
constexpr double least_peak = 8;
/// Neighbours tell the motion roughly, for positions have errors; images of those farther away may
/// have too little in common.
constexpr std::array distances_in_steps{1.0, 3.0, 6.0};
/// Of a shift: where positions are a pixel or two off.
constexpr double tolerance_px = 2;
constexpr double least_motion_px = 3;

struct Pair {
  Vec2 step;
  Vec2 shift_px;
};

/// Reads patterns as they would be without the beam's own structure, binned to a handy size.
class FlatImages {
 public:
  FlatImages(io::ScanReader& reader, const Survey& survey, const ImageStack<double>& trusted)
      : reader_(reader), recorded_(reader.patterns()), mean_(survey.mean) {
    const auto [h, w] = recorded_.shape;
    bin_ = (std::max(h, w) + max_side_px - 1) / max_side_px;
    std::vector<double> values(mean_.begin(), mean_.end());
    const auto bright = values.begin() + std::ssize(values) * 9 / 10;
    std::nth_element(values.begin(), bright, values.end());
    for (std::size_t i = 0; i < mean_.size(); ++i)
      if (mean_.data()[i] < 0.1 * *bright || survey.damaged.data()[i] ||
          (trusted.n() > 0 && trusted.data()[i] == 0))
        mean_.data()[i] = 0;
    pattern_.resize(mean_.size());
  }

  int bin() const { return bin_; }

  /// The spectrum of pattern / mean - 1; 0 where there is no beam.
  WaveStack spectrum(int position) {
    const int columns = recorded_.raster.empty() ? 1 : recorded_.raster[1];
    const auto [h, w] = recorded_.shape;
    reader_.read_patterns(Box::at({position / columns, position % columns}, {1, 1}),
                          Box::at({0, 0}, recorded_.shape),
                          reinterpret_cast<std::byte*>(pattern_.data()));
    WaveStack image(1, {h / bin_, w / bin_});
    for (int y = 0; y < h / bin_ * bin_; ++y)
      for (int x = 0; x < w / bin_ * bin_; ++x) {
        const double mean = mean_(0, y, x);
        const double value = pattern_[static_cast<std::size_t>(y * w + x)];
        if (mean > 0 && std::isfinite(value))
          image(0, y / bin_, x / bin_) += std::clamp(value / mean - 1, -2.0, 2.0);
      }
    for (int y = 0; y < image.h(); ++y)
      for (int x = 0; x < image.w(); ++x)
        image(0, y, x) *= std::sin(std::numbers::pi * (y + 0.5) / image.h()) *
                          std::sin(std::numbers::pi * (x + 0.5) / image.w());
    optics::forward_2d(image);
    return image;
  }

 private:
  io::ScanReader& reader_;
  io::RecordedPatterns recorded_;
  ImageStack<double> mean_;  ///< 0: not looked at
  int bin_ = 1;
  std::vector<float> pattern_;
};

/// Of a parabola through three values, from the middle one.
double vertex(double before, double at, double after) {
  const double curvature = before - 2 * at + after;
  return curvature < 0 ? std::clamp(0.5 * (before - after) / curvature, -0.5, 0.5) : 0;
}

/// By how much `b` is shifted against `a`, pixels; nothing if no peak stands out. Half whitened:
/// between correlation, which is broad, and phase correlation, which is noisy.
std::optional<Vec2> shift_between(const WaveStack& a, const WaveStack& b) {
  WaveStack product(1, a.shape());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::complex<double> value = b.data()[i] * std::conj(a.data()[i]);
    if (std::abs(value) > 0) product.data()[i] = value / std::sqrt(std::abs(value));
  }
  product.data()[0] = 0;
  optics::inverse_2d(product);
  const auto [h, w] = a.shape();
  double squares = 0;
  int at = 0;
  for (int i = 0; i < h * w; ++i) {
    squares += std::norm(product.data()[i]);
    if (product.data()[i].real() > product.data()[at].real()) at = i;
  }
  if (product.data()[at].real() < least_peak * std::sqrt(squares / (h * w))) return {};
  const int y = at / w;
  const int x = at % w;
  const auto value = [&](int row, int column) {
    return product(0, (row + h) % h, (column + w) % w).real();
  };
  return Vec2{(y < h / 2 ? y : y - h) + vertex(value(y - 1, x), value(y, x), value(y + 1, x)),
              (x < w / 2 ? x : x - w) + vertex(value(y, x - 1), value(y, x), value(y, x + 1))};
}

/// For each of some distances, the nearest position that is farther from `from`, and the nearest
/// in a direction across.
std::vector<int> neighbours(const std::vector<Vec2>& positions, int from) {
  const auto step_to = [&](int other) {
    return positions[static_cast<std::size_t>(other)] - positions[static_cast<std::size_t>(from)];
  };
  const auto nearest = [&](const auto& is_allowed) {
    int best = -1;
    double least = std::numeric_limits<double>::infinity();
    for (int other = 0; other < std::ssize(positions); ++other) {
      const Vec2 step = step_to(other);
      const double distance = std::hypot(step.y, step.x);
      if (distance == 0 || distance >= least || !is_allowed(step)) continue;
      least = distance;
      best = other;
    }
    return best;
  };
  const int first = nearest([](Vec2) { return true; });
  if (first < 0) return {};
  const double step_length = std::hypot(step_to(first).y, step_to(first).x);
  std::vector<int> all;
  for (const double farther : distances_in_steps) {
    const auto is_far = [&](Vec2 step) {
      return std::hypot(step.y, step.x) >= farther * step_length;
    };
    const int along = nearest(is_far);
    if (along < 0) break;
    all.push_back(along);
    const int across = nearest([&, ahead = step_to(along)](Vec2 step) {
      return is_far(step) && std::abs(step.y * ahead.x - step.x * ahead.y) >
                                 0.7 * std::hypot(step.y, step.x) * std::hypot(ahead.y, ahead.x);
    });
    if (across >= 0) all.push_back(across);
  }
  return all;
}

Vec2 moved(const ShadowMotion& motion, Vec2 step) {
  return {motion.yy * step.y + motion.yx * step.x, motion.xy * step.y + motion.xx * step.x};
}

bool agrees(const ShadowMotion& motion, const Pair& pair) {
  const Vec2 off = moved(motion, pair.step) - pair.shift_px;
  return std::hypot(off.y, off.x) <
         tolerance_px + 0.1 * std::hypot(pair.shift_px.y, pair.shift_px.x);
}

/// Lengths in all directions alike, as square pixels make them.
bool is_a_turn(const ShadowMotion& motion) {
  const double determinant = std::abs(motion.yy * motion.xx - motion.yx * motion.xy);
  const double squares =
      motion.yy * motion.yy + motion.yx * motion.yx + motion.xy * motion.xy + motion.xx * motion.xx;
  return determinant > 0.8 * squares / 2;
}

/// Least squares; nothing if all steps lie on a line.
std::optional<ShadowMotion> fitted(const std::vector<Pair>& pairs) {
  double a = 0, b = 0, c = 0;
  Vec2 y_sum, x_sum;  // sums of shift times step
  for (const auto& [step, shift] : pairs) {
    a += step.y * step.y;
    b += step.y * step.x;
    c += step.x * step.x;
    y_sum = y_sum + shift.y * step;
    x_sum = x_sum + shift.x * step;
  }
  const double determinant = a * c - b * b;
  if (determinant <= 1e-3 * a * c || determinant <= 0) return {};
  return ShadowMotion{(c * y_sum.y - b * y_sum.x) / determinant,
                      (a * y_sum.x - b * y_sum.y) / determinant,
                      (c * x_sum.y - b * x_sum.x) / determinant,
                      (a * x_sum.x - b * x_sum.y) / determinant, static_cast<int>(pairs.size())};
}

/// What most pairs agree on, of the matrices that any two of them make.
std::optional<ShadowMotion> agreed(const std::vector<Pair>& pairs) {
  std::vector<Pair> most;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const auto motion = fitted({pairs[i], pairs[j]});
      if (!motion || !is_a_turn(*motion)) continue;
      std::vector<Pair> agreeing;
      std::ranges::copy_if(pairs, std::back_inserter(agreeing),
                           [&](const Pair& pair) { return agrees(*motion, pair); });
      if (agreeing.size() > most.size()) most = agreeing;
    }
  if (most.size() < 6 || 5 * most.size() < 3 * pairs.size()) return {};
  return fitted(most);
}

}  // namespace

std::optional<ShadowMotion> find_shadow_motion(io::ScanReader& reader, const Survey& survey,
                                               const ImageStack<double>& trusted,
                                               const std::vector<Vec2>& positions) {
  FlatImages images(reader, survey, trusted);
  std::vector<Pair> pairs;
  const int n = static_cast<int>(positions.size());
  const int n_sources = std::min(max_sources, n);
  for (int i = 0; i < n_sources; ++i) {
    const int from = static_cast<int>(std::int64_t{i} * n / n_sources);
    const WaveStack spectrum = images.spectrum(from);
    for (const int to : neighbours(positions, from))
      if (const auto shift = shift_between(spectrum, images.spectrum(to)))
        pairs.push_back(
            {positions[static_cast<std::size_t>(to)] - positions[static_cast<std::size_t>(from)],
             static_cast<double>(images.bin()) * *shift});
  }
  const auto motion = agreed(pairs);
  if (!motion) return {};
  const auto n_moving = std::ranges::count_if(pairs, [](const Pair& pair) {
    return std::hypot(pair.shift_px.y, pair.shift_px.x) >= least_motion_px;
  });
  return 2 * n_moving > std::ssize(pairs) ? motion : std::nullopt;
}

}  // namespace tessera::analysis

#include "optics/coarse_map.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include "tessera/optics/host_fft.hpp"

namespace tessera::optics {
namespace {

using Complex = std::complex<double>;

Shape2 nodes_of(Shape2 object, double step_px) {
  const auto count = [&](int n) { return static_cast<int>((n - 1) / step_px) + 2; };
  return {count(object.h), count(object.w)};
}

double squared(double a) {
  return a * a;
}

/// Calls add(y, x, weight) for the nodes near a point.
template <class Add>
void for_each_near_node(Shape2 nodes, Vec2 at, const Add& add) {
  constexpr int reach = 3;
  const auto first = [](double c) { return std::max(0, static_cast<int>(std::ceil(c - reach))); };
  const auto last = [](double c, int n) {
    return std::min(n - 1, static_cast<int>(std::floor(c + reach)));
  };
  const int left = first(at.x);
  const int right = last(at.x, nodes.w);
  std::array<double, 2 * reach + 1> across{};
  for (int x = left; x <= right; ++x)
    across[static_cast<std::size_t>(x - left)] = std::exp(-squared(x - at.x) / 2);
  for (int y = first(at.y); y <= last(at.y, nodes.h); ++y) {
    const double along = std::exp(-squared(y - at.y) / 2);
    for (int x = left; x <= right; ++x)
      add(y, x, along * across[static_cast<std::size_t>(x - left)]);
  }
}

/// Values and their mirror images, so that the whole is periodic: the derivative along an axis
/// changes its sign there.
WaveStack mirrored(const ImageStack<double>& along_y, const ImageStack<double>& along_x) {
  const auto [h, w] = along_y.shape();
  WaveStack out(2, {2 * h, 2 * w});
  for (int y = 0; y < 2 * h; ++y)
    for (int x = 0; x < 2 * w; ++x) {
      const int from_y = y < h ? y : 2 * h - 1 - y;
      const int from_x = x < w ? x : 2 * w - 1 - x;
      out(0, y, x) = y < h ? along_y(0, from_y, from_x) : -along_y(0, from_y, from_x);
      out(1, y, x) = x < w ? along_x(0, from_y, from_x) : -along_x(0, from_y, from_x);
    }
  return out;
}

/// Derivatives per node -> values; their mean is 0.
ImageStack<double> integrated(const ImageStack<double>& along_y,
                              const ImageStack<double>& along_x) {
  WaveStack wave = mirrored(along_y, along_x);
  forward_2d(wave);
  const auto derivative = [](int k, int n) {
    return 2 * k == n ? 0.0 : 2 * std::numbers::pi * frequency(k, n);
  };
  for (int y = 0; y < wave.h(); ++y)
    for (int x = 0; x < wave.w(); ++x) {
      const double ky = derivative(y, wave.h());
      const double kx = derivative(x, wave.w());
      const double k2 = ky * ky + kx * kx;
      wave(0, y, x) =
          k2 == 0 ? Complex(0) : (ky * wave(0, y, x) + kx * wave(1, y, x)) / (Complex(0, 1) * k2);
    }
  inverse_2d(wave);
  ImageStack<double> values(1, along_y.shape());
  for (int y = 0; y < values.h(); ++y)
    for (int x = 0; x < values.w(); ++x) values(0, y, x) = wave(0, y, x).real();
  return values;
}

/// `weight` of pixel (y, x), summed and centred.
template <class Weight, class Place>
Vec2 centre_of_mass(Shape2 shape, const Weight& weight, const Place& place) {
  double total = 0;
  Vec2 moment;
  for (int y = 0; y < shape.h; ++y)
    for (int x = 0; x < shape.w; ++x) {
      const double here = weight(y, x);
      total += here;
      moment.y += here * place(y, shape.h);
      moment.x += here * place(x, shape.w);
    }
  return {moment.y / total, moment.x / total};
}

double power(const WaveStack& waves, int y, int x) {
  double sum = 0;
  for (int m = 0; m < waves.n(); ++m) sum += std::norm(waves(m, y, x));
  return sum;
}

}  // namespace

double CoarseMap::at(Pixel pixel) const {
  const double y = pixel.y / step_px;
  const double x = pixel.x / step_px;
  const int y0 = std::clamp(static_cast<int>(y), 0, nodes.h() - 2);
  const int x0 = std::clamp(static_cast<int>(x), 0, nodes.w() - 2);
  const double in_y = y - y0;
  const double in_x = x - x0;
  return (1 - in_y) * ((1 - in_x) * nodes(0, y0, x0) + in_x * nodes(0, y0, x0 + 1)) +
         in_y * ((1 - in_x) * nodes(0, y0 + 1, x0) + in_x * nodes(0, y0 + 1, x0 + 1));
}

double coarse_step_px(std::span<const Vec2> points_px) {
  if (points_px.empty()) return 1;
  const auto [min_y, max_y] = std::ranges::minmax(points_px, {}, &Vec2::y);
  const auto [min_x, max_x] = std::ranges::minmax(points_px, {}, &Vec2::x);
  const double area = std::max(1.0, max_y.y - min_y.y) * std::max(1.0, max_x.x - min_x.x);
  return std::max(1.0, std::sqrt(area / static_cast<double>(points_px.size())));
}

CoarseMap spread(Shape2 object, double step_px, std::span<const Vec2> points_px,
                 std::span<const double> values, double elsewhere) {
  constexpr double min_weight = 1e-3;
  const Shape2 nodes = nodes_of(object, step_px);
  CoarseMap map{step_px, ImageStack<double>(1, nodes, min_weight * elsewhere)};
  ImageStack<double> weights(1, nodes, min_weight);
  for (std::size_t i = 0; i < points_px.size(); ++i)
    for_each_near_node(nodes, {points_px[i].y / step_px, points_px[i].x / step_px},
                       [&](int y, int x, double weight) {
                         map.nodes(0, y, x) += weight * values[i];
                         weights(0, y, x) += weight;
                       });
  std::ranges::transform(map.nodes, weights, map.nodes.begin(), std::divides<>());
  return map;
}

CoarseMap phase_of_gradients(Shape2 object, double step_px, std::span<const Vec2> points_px,
                             std::span<const Vec2> gradients) {
  Vec2 mean;
  for (const Vec2& gradient : gradients)
    mean = mean + gradient / static_cast<double>(gradients.size());
  std::vector<double> along_y;
  std::vector<double> along_x;
  for (const Vec2& gradient : gradients) {  // per node
    along_y.push_back((gradient.y - mean.y) * step_px);
    along_x.push_back((gradient.x - mean.x) * step_px);
  }
  CoarseMap phase{step_px, integrated(spread(object, step_px, points_px, along_y, 0).nodes,
                                      spread(object, step_px, points_px, along_x, 0).nodes)};
  for (int y = 0; y < phase.nodes.h(); ++y)
    for (int x = 0; x < phase.nodes.w(); ++x)
      phase.nodes(0, y, x) +=
          mean.y * (y * step_px - object.h / 2.0) + mean.x * (x * step_px - object.w / 2.0);
  return phase;
}

Vec2 illumination_centre_px(const WaveStack& probe) {
  return centre_of_mass(
      probe.shape(), [&](int y, int x) { return power(probe, y, x); },
      [](int i, int) { return i; });
}

Vec2 pattern_centre_px(const WaveStack& probe, const ImageStack<std::uint8_t>& valid_pixels) {
  WaveStack wave = cornered(probe);
  forward_2d(wave);
  return centre_of_mass(
      wave.shape(), [&](int y, int x) { return valid_pixels(0, y, x) * power(wave, y, x); },
      [](int i, int n) { return n * frequency(i, n); });
}

}  // namespace tessera::optics

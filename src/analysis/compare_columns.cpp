#include "compare_columns.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>

#include "least_squares.hpp"

namespace tessera::analysis {
namespace {

/// What was found of every column: 1 if it was, its way from the truth, its height in each slice.
struct Found {
  explicit Found(std::size_t n_columns, std::size_t n_slices)
      : row(3 + n_slices), values(n_columns * row) {}
  double* of(std::size_t column) { return values.data() + column * row; }
  bool has(std::size_t column) const { return values[column * row] > 0; }
  Vec2 way_px(std::size_t column) const {
    return {values[column * row + 1], values[column * row + 2]};
  }
  double height(std::size_t column, std::size_t slice) const {
    return values[column * row + 3 + slice];
  }
  std::size_t row;
  std::vector<double> values;
};

/// Phases of the slices, each about its own mean over the lit pixels: nothing wraps.
ImageStack<double> phases(const PairBlock& block) {
  ImageStack<double> made(block.a.n(), block.a.shape());
  for (int slice = 0; slice < block.a.n(); ++slice) {
    std::complex<double> mean;
    for (std::int64_t r = 0; r < block.box.area(); ++r)
      if (block.lit.data()[r]) mean += block.a.image(slice)[r];
    for (std::int64_t r = 0; r < block.box.area(); ++r)
      made.image(slice)[r] = std::arg(block.a.image(slice)[r] * std::conj(mean));
  }
  return made;
}

/// Pixels about a column: where, seen from its true place, and how far out they count.
template <class Visit>
void for_each_about(Vec2 at_px, double sigma_px, Shape2 shape, const Visit& visit) {
  const double reach_px = std::max(2.0, 2.5 * sigma_px);
  for (int y = static_cast<int>(std::ceil(at_px.y - reach_px)); y <= at_px.y + reach_px; ++y)
    for (int x = static_cast<int>(std::ceil(at_px.x - reach_px)); x <= at_px.x + reach_px; ++x)
      if (Box::at({0, 0}, shape).contains(Pixel{y, x}) &&
          std::hypot(y - at_px.y, x - at_px.x) <= reach_px)
        visit(Pixel{y, x}, Vec2{y - at_px.y, x - at_px.x});
}

double gaussian(Vec2 from_px, double sigma_px) {
  return std::exp(-(from_px.y * from_px.y + from_px.x * from_px.x) / (2 * sigma_px * sigma_px));
}

/// Gauss-Newton for floor, height, place and width, from the truth. @return the place's way
Vec2 way_of_column(const std::vector<double>& phase, Shape2 shape, Vec2 at_px, double sigma_px) {
  constexpr int n_steps = 20;
  constexpr double max_way_px = 3;
  Vec2 way_px;
  double width_px = sigma_px;
  for (int step = 0; step < n_steps; ++step) {
    Eigen::Matrix<double, 5, 5> normal = Eigen::Matrix<double, 5, 5>::Zero();
    Eigen::Matrix<double, 5, 1> right = Eigen::Matrix<double, 5, 1>::Zero();
    // Floor and height enter linearly.
    Eigen::Matrix2d two = Eigen::Matrix2d::Zero();
    Eigen::Vector2d right_two = Eigen::Vector2d::Zero();
    for_each_about(at_px, sigma_px, shape, [&](Pixel pixel, Vec2 from_px) {
      const Eigen::Vector2d here{1, gaussian(from_px - way_px, width_px)};
      two += here * here.transpose();
      right_two += here * phase[static_cast<std::size_t>(pixel.y) * shape.w + pixel.x];
    });
    const Eigen::Vector2d linear = least_squares(two, right_two);
    for_each_about(at_px, sigma_px, shape, [&](Pixel pixel, Vec2 from_px) {
      const Vec2 d = from_px - way_px;
      const double bell = gaussian(d, width_px);
      const double slope = linear[1] * bell / (width_px * width_px);
      Eigen::Matrix<double, 5, 1> here;
      here << 1, bell, slope * d.y, slope * d.x, slope * (d.y * d.y + d.x * d.x) / width_px;
      const double lacks = phase[static_cast<std::size_t>(pixel.y) * shape.w + pixel.x] -
                           linear[0] - linear[1] * bell;
      normal += here * here.transpose();
      right += here * lacks;
    });
    const Eigen::Matrix<double, 5, 1> by = least_squares(normal, right);
    const auto bounded = [](double value, double most) { return std::clamp(value, -most, most); };
    way_px = {bounded(way_px.y + bounded(by[2], 0.5), max_way_px),
              bounded(way_px.x + bounded(by[3], 0.5), max_way_px)};
    width_px = std::clamp(width_px + bounded(by[4], 0.2 * width_px), 0.5 * sigma_px, 2 * sigma_px);
  }
  return way_px;
}

/// Of a floor and a Gaussian at the place given.
double height_of_column(const double* phase, Shape2 shape, Vec2 at_px, double sigma_px) {
  Eigen::Matrix2d normal = Eigen::Matrix2d::Zero();
  Eigen::Vector2d right = Eigen::Vector2d::Zero();
  for_each_about(at_px, sigma_px, shape, [&](Pixel pixel, Vec2 from_px) {
    const Eigen::Vector2d here{1, gaussian(from_px, sigma_px)};
    normal += here * here.transpose();
    right += here * phase[static_cast<std::int64_t>(pixel.y) * shape.w + pixel.x];
  });
  return least_squares(normal, right)(1);
}

/// Collective.
Found find_columns(const ObjectPair& pair, const KnownColumns& known, Vec2 begin_px, Vec2 end_px) {
  Found found(known.at_px.size(), static_cast<std::size_t>(pair.n_images()));
  pair.for_each([&](const PairBlock& block) {
    const ImageStack<double> phase = phases(block);
    const Shape2 shape = phase.shape();
    std::vector<double> projected(static_cast<std::size_t>(shape.size()));
    for (int slice = 0; slice < phase.n(); ++slice)
      for (std::size_t r = 0; r < projected.size(); ++r) projected[r] += phase.image(slice)[r];
    for (std::size_t i = 0; i < known.at_px.size(); ++i) {
      const Vec2 truth_px = known.at_px[i];
      if (truth_px.y < begin_px.y || truth_px.y > end_px.y || truth_px.x < begin_px.x ||
          truth_px.x > end_px.x)
        continue;
      const Vec2 at_px = pair.place_px(truth_px) - as_vec2(block.box.begin);
      const Pixel middle{static_cast<int>(std::lround(at_px.y)),
                         static_cast<int>(std::lround(at_px.x))};
      if (!Box::at({0, 0}, shape).contains(middle) || !block.counted(0, middle.y, middle.x))
        continue;
      double* row = found.of(i);
      const Vec2 way_px = way_of_column(projected, shape, at_px, known.sigma_px);
      row[0] = 1;
      row[1] = way_px.y;
      row[2] = way_px.x;
      for (int slice = 0; slice < phase.n(); ++slice)
        row[3 + slice] = height_of_column(phase.image(slice), shape, at_px, known.sigma_px);
    }
  });
  pair.comm().sum(std::span<double>(found.values));
  return found;
}

/// Rms of what the best affine map of the places leaves of the ways.
double rms_without_affine_px(const Found& found, const std::vector<Vec2>& at_px) {
  Eigen::Matrix3d normal = Eigen::Matrix3d::Zero();
  Eigen::Matrix<double, 3, 2> right = Eigen::Matrix<double, 3, 2>::Zero();
  double squares = 0;
  int n = 0;
  for (std::size_t i = 0; i < at_px.size(); ++i)
    if (found.has(i)) {
      const Eigen::Vector3d here{1, at_px[i].y, at_px[i].x};
      const Eigen::RowVector2d way{found.way_px(i).y, found.way_px(i).x};
      normal += here * here.transpose();
      right += here * way;
      squares += way.squaredNorm();
      ++n;
    }
  const Eigen::Matrix<double, 3, 2> map = least_squares(normal, right);
  return std::sqrt(std::max(0.0, squares - (right.transpose() * map).trace()) / n);
}

void compare_places(const Found& found, const std::vector<Vec2>& at_px, ColumnComparison& result) {
  const std::size_t n = at_px.size();
  Vec2 mean_px;
  for (std::size_t i = 0; i < n; ++i)
    if (found.has(i)) {
      ++result.n_columns;
      mean_px = mean_px + found.way_px(i);
    }
  if (result.n_columns == 0) return;
  mean_px = mean_px / result.n_columns;
  for (std::size_t i = 0; i < n; ++i)
    if (found.has(i)) {
      const Vec2 d = found.way_px(i) - mean_px;
      const double squared = d.y * d.y + d.x * d.x;
      result.rms_px += squared / result.n_columns;
      result.worst_px = std::max(result.worst_px, std::sqrt(squared));
    }
  result.rms_px = std::sqrt(result.rms_px);
  result.affine_rms_px = rms_without_affine_px(found, at_px);
}

using Profile = std::vector<double>;  ///< radians, by slice

/// What each dopant that was found adds to its column.
std::vector<std::pair<KnownColumns::Dopant, Profile>> added_by_dopants(const Found& found,
                                                                       const KnownColumns& known) {
  std::vector<bool> doped(known.at_px.size());
  for (const KnownColumns::Dopant& dopant : known.dopants) doped[dopant.column] = true;
  std::vector<std::pair<KnownColumns::Dopant, Profile>> all;
  for (const KnownColumns::Dopant& dopant : known.dopants) {
    if (!found.has(dopant.column)) continue;
    Profile added(known.depth_m.size());
    for (std::size_t slice = 0; slice < added.size(); ++slice) {
      double host = 0;
      int n_hosts = 0;
      for (std::size_t i = 0; i < known.at_px.size(); ++i)
        if (found.has(i) && !doped[i] && known.kind[i] == known.kind[dopant.column]) {
          host += found.height(i, slice);
          ++n_hosts;
        }
      added[slice] = found.height(dopant.column, slice) - host / std::max(1, n_hosts);
    }
    all.emplace_back(dopant, std::move(added));
  }
  return all;
}

struct Bell {
  double residual;
  double depth_m;
};

/// The best Gaussian of this width, its depth anywhere between first and last slice.
Bell best_bell(const Profile& added, const std::vector<double>& depth_m, double sigma_m) {
  constexpr int n_depths = 200;
  Bell best{std::numeric_limits<double>::max(), 0};
  for (int k = 0; k <= n_depths; ++k) {
    const double at_m = depth_m.front() + (depth_m.back() - depth_m.front()) * k / n_depths;
    double bb = 0, ba = 0, aa = 0;
    for (std::size_t s = 0; s < added.size(); ++s) {
      const double z = (depth_m[s] - at_m) / sigma_m;
      const double bell = std::exp(-z * z / 2);
      bb += bell * bell;
      ba += bell * added[s];
      aa += added[s] * added[s];
    }
    const double residual = aa - (ba > 0 ? ba * ba / bb : 0);
    if (residual < best.residual) best = {residual, at_m};
  }
  return best;
}

void compare_depths(const Found& found, const KnownColumns& known, ColumnComparison& result) {
  if (known.depth_m.size() < 3) return;
  const auto dopants = added_by_dopants(found, known);
  result.n_dopants = static_cast<int>(dopants.size());
  if (dopants.empty()) return;
  const double length_m = known.depth_m.back() - known.depth_m.front();
  constexpr double fwhm_of_sigma = 2.3548200450309493;
  constexpr int n_widths = 150;
  double least = std::numeric_limits<double>::max();
  for (int k = 0; k <= n_widths; ++k) {
    const double sigma_m = length_m * 0.02 * std::pow(100.0, static_cast<double>(k) / n_widths);
    double residual = 0;
    double squares = 0;
    for (const auto& [dopant, added] : dopants) {
      const Bell bell = best_bell(added, known.depth_m, sigma_m);
      residual += bell.residual;
      squares += std::pow(bell.depth_m - known.depth_m[dopant.slice], 2);
    }
    if (residual >= least) continue;
    least = residual;
    result.depth_fwhm_m = fwhm_of_sigma * sigma_m;
    result.depth_rms_m = std::sqrt(squares / static_cast<double>(dopants.size()));
  }
}

}  // namespace

std::optional<KnownColumns> read_columns(const io::File& file) {
  if (!file.has("truth/columns")) return {};
  KnownColumns known;
  const std::vector<double> columns = file.read_doubles("truth/columns");
  for (std::size_t i = 0; i + 2 < columns.size(); i += 3) {
    known.at_px.push_back({columns[i], columns[i + 1]});
    known.kind.push_back(static_cast<int>(columns[i + 2]));
  }
  known.sigma_px = file.read_doubles("truth/column_sigma_px").at(0);
  if (!file.has("truth/slice_distance_m")) return known;
  known.depth_m = {0};
  for (const double distance_m : file.read_doubles("truth/slice_distance_m"))
    known.depth_m.push_back(known.depth_m.back() + distance_m);
  if (!file.has("truth/dopants")) return known;
  const std::vector<double> dopants = file.read_doubles("truth/dopants");
  for (std::size_t i = 0; i + 2 < dopants.size(); i += 3)
    if (dopants[i] >= 0 && dopants[i] < static_cast<double>(known.at_px.size()) &&
        dopants[i + 1] >= 0 && dopants[i + 1] < static_cast<double>(known.depth_m.size()))
      known.dopants.push_back(
          {static_cast<std::size_t>(dopants[i]), static_cast<std::size_t>(dopants[i + 1])});
  return known;
}

ColumnComparison compare_columns(const ObjectPair& pair, const KnownColumns& known,
                                 Vec2 scanned_begin_px, Vec2 scanned_end_px) {
  const Found found = find_columns(pair, known, scanned_begin_px, scanned_end_px);
  ColumnComparison result;
  compare_places(found, known.at_px, result);
  if (known.depth_m.size() == static_cast<std::size_t>(pair.n_images()))
    compare_depths(found, known, result);
  return result;
}

}  // namespace tessera::analysis

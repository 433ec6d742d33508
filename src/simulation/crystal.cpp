#include "crystal.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "tessera/base/random.hpp"

namespace tessera::simulation {

/// Of a rectangular cell, as fractions of its sides; the weight in even and in odd slices.
struct Crystal::Site {
  Vec2 at;
  std::array<double, 2> weight;
  bool doped;
};

namespace {

/// Lengths of the cell's short side: pseudocubic PrScO3 along [001], and MoS2 (2H) along c, whose
/// orthogonal cell is sqrt(3) times as high.
constexpr double perovskite_m = 0.40e-9;
constexpr double mos2_m = 0.316e-9;

enum Stream : std::uint64_t { of_displacement = 1, of_choice };

}  // namespace

const std::vector<Crystal::Site>& Crystal::sites(const std::string& kind) {
  // Heavy columns, middle ones that may be doped, light ones.
  static const std::vector<Site> perovskite{{{0, 0}, {0.7, 0.7}, false},
                                            {{0.5, 0.5}, {0.4, 0.4}, true},
                                            {{0.5, 0}, {0.12, 0.12}, false},
                                            {{0, 0.5}, {0.12, 0.12}, false}};
  // From layer to layer the metal and two sulphurs change places.
  constexpr double third = 1.0 / 3;
  static const std::vector<Site> mos2{{{0, 0}, {0.6, 0.3}, true},
                                      {{0.5, 0.5}, {0.6, 0.3}, true},
                                      {{third, 0}, {0.3, 0.6}, true},
                                      {{0.5 + third, 0.5}, {0.3, 0.6}, true}};
  return kind == "mos2" ? mos2 : perovskite;
}

bool Crystal::has(const std::string& kind) {
  return kind == "perovskite" || kind == "mos2";
}

Crystal::Crystal(const std::string& kind, Shape2 object, Shape2 window, double pixel_m,
                 int n_slices, int n_dopants, std::uint64_t seed)
    : sites_(sites(kind)), pixel_m_(pixel_m) {
  const bool hexagonal = kind == "mos2";
  place_columns((hexagonal ? mos2_m : perovskite_m) / pixel_m, hexagonal ? std::numbers::sqrt3 : 1,
                object, seed);
  place_dopants(object, window, n_slices, n_dopants, seed);
  sort_into_bins(object);
}

void Crystal::place_columns(double width_px, double height_to_width, Shape2 object,
                            std::uint64_t seed) {
  const double height_px = height_to_width * width_px;
  const double most_px = max_displacement_m / pixel_m_;
  const std::uint64_t stream = random_bits(seed, of_displacement);
  for (int row = -1; row * height_px < object.h + reach_px(); ++row)
    for (int column = -1; column * width_px < object.w + reach_px(); ++column)
      for (std::size_t i = 0; i < sites_.size(); ++i) {
        const std::uint64_t number = 2 * columns_px_.size();
        const Vec2 moved{most_px * (2 * random_unit(stream, number) - 1),
                         most_px * (2 * random_unit(stream, number + 1) - 1)};
        columns_px_.push_back(
            Vec2{(row + sites_[i].at.y) * height_px, (column + sites_[i].at.x) * width_px} + moved);
        site_.push_back(i);
      }
}

/// Columns by lot, slices in turn, not the outermost sixths.
void Crystal::place_dopants(Shape2 object, Shape2 window, int n_slices, int n_dopants,
                            std::uint64_t seed) {
  const double margin_px = 2 * reach_px() / 3;
  const Vec2 least{0.5 * window.h + margin_px, 0.5 * window.w + margin_px};
  std::vector<std::size_t> candidates;
  for (std::size_t i = 0; i < columns_px_.size(); ++i) {
    const Vec2 at = columns_px_[i];
    if (sites_[site_[i]].doped && at.y > least.y && at.y < object.h - least.y && at.x > least.x &&
        at.x < object.w - least.x)
      candidates.push_back(i);
  }
  const std::uint64_t stream = random_bits(seed, of_choice);
  std::ranges::sort(candidates, {}, [&](std::size_t i) { return random_bits(stream, i); });
  const int first = n_slices / 6;
  const int n_inner = n_slices - 2 * first;
  const std::size_t n = std::min(candidates.size(), static_cast<std::size_t>(n_dopants));
  for (std::size_t i = 0; i < n; ++i) {
    int slice = first + static_cast<int>(i * 3) % n_inner;
    // A dopant takes the heavier atom's place.
    if (host_weight(candidates[i], slice) < host_weight(candidates[i], slice + 1))
      slice += slice + 1 < n_slices ? 1 : -1;
    dopants_.push_back({candidates[i], slice});
  }
}

void Crystal::sort_into_bins(Shape2 object) {
  bins_h_ = static_cast<int>(object.h / reach_px()) + 3;
  bins_w_ = static_cast<int>(object.w / reach_px()) + 3;
  bins_.resize(static_cast<std::size_t>(bins_h_) * static_cast<std::size_t>(bins_w_));
  for (std::size_t i = 0; i < columns_px_.size(); ++i)
    bins_[bin_of(columns_px_[i].y, columns_px_[i].x)].push_back(i);
}

std::size_t Crystal::bin_of(double y_px, double x_px) const {
  const auto bin = [&](double at_px, int n) {
    return std::clamp(static_cast<int>(std::floor(at_px / reach_px())) + 1, 0, n - 1);
  };
  return static_cast<std::size_t>(bin(y_px, bins_h_)) * static_cast<std::size_t>(bins_w_) +
         static_cast<std::size_t>(bin(x_px, bins_w_));
}

int Crystal::kind(std::size_t column) const {
  const auto same = std::ranges::find(sites_, sites_[site_[column]].weight, &Site::weight);
  return static_cast<int>(same - sites_.begin());
}

double Crystal::host_weight(std::size_t column, int slice) const {
  return sites_[site_[column]].weight[static_cast<std::size_t>(slice % 2)];
}

double Crystal::dopant_weight(const Dopant& dopant) const {
  return 1 - host_weight(dopant.column, dopant.slice);
}

double Crystal::weight(std::size_t column, int slice) const {
  for (const Dopant& dopant : dopants_)
    if (dopant.column == column && dopant.slice == slice) return 1;
  return host_weight(column, slice);
}

double Crystal::thickness(int slice, double y_px, double x_px) const {
  const double sigma_px = column_sigma_m / pixel_m_;
  double sum = 0;
  // Squares about the point's own: on the border of all bins some coincide.
  std::array<std::size_t, 9> seen{};
  std::size_t n_seen = 0;
  for (const double dy : {-1.0, 0.0, 1.0})
    for (const double dx : {-1.0, 0.0, 1.0}) {
      const std::size_t bin = bin_of(y_px + dy * reach_px(), x_px + dx * reach_px());
      const auto end = seen.begin() + static_cast<std::ptrdiff_t>(n_seen);
      if (std::find(seen.begin(), end, bin) != end) continue;
      seen[n_seen++] = bin;
      for (const std::size_t i : bins_[bin]) {
        const double y = y_px - columns_px_[i].y;
        const double x = x_px - columns_px_[i].x;
        sum += weight(i, slice) * std::exp(-(y * y + x * x) / (2 * sigma_px * sigma_px));
      }
    }
  return sum;
}

}  // namespace tessera::simulation

#include "tessera/geometry/windows.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/base/random.hpp"
#include "tessera/base/text.hpp"

namespace tessera::geometry {
namespace {

Vec2 polar(double radius, double angle_rad) {
  return {radius * std::sin(angle_rad), radius * std::cos(angle_rad)};
}

Vec2 min_of(std::span<const Vec2> positions_m) {
  if (positions_m.empty()) {
    throw InputError("the scan has no positions; data.positions must hold at least one");
  }
  Vec2 min = positions_m.front();
  for (std::size_t i = 0; i < positions_m.size(); ++i) {
    const Vec2 p = positions_m[i];
    if (!std::isfinite(p.y) || !std::isfinite(p.x)) {
      throw InputError(text("data.positions[", i, "] = (", p.y, ", ", p.x,
                            ") m is not finite; repair the file or leave the position out"));
    }
    min = {std::min(min.y, p.y), std::min(min.x, p.x)};
  }
  return min;
}

/// Wider than any sample: a wrong unit, which must not end in an allocation of terabytes.
InputError too_wide(const std::string& how_wide, double pixel_m, const std::string& limit) {
  return InputError(text("the scan ", how_wide, " object pixels of ", pixel_m, " m, ", limit,
                         "; check the unit of data.positions (metres) and the experiment's "
                         "distance, wavelength and detector pixel"));
}

struct Rounded {
  int whole;
  double rest;
};

/// `offset_px` >= 0 as a whole number and a rest in [-0.5, 0.5), both exact.
Rounded rounded(double offset_px, int window_px, double pixel_m) {
  double whole = std::floor(offset_px);
  double rest = offset_px - whole;
  if (rest >= 0.5) {
    whole += 1;
    rest -= 1;
  }
  constexpr double max_px = 1 << 24;
  if (!(whole + window_px <= max_px))
    throw too_wide(text("reaches ", offset_px), pixel_m, "more than 2^24");
  return {static_cast<int>(whole), rest};
}

}  // namespace

WindowGrid lay_windows(std::vector<Vec2> positions_m, Shape2 window, double pixel_m,
                       int margin_px) {
  if (!std::isfinite(pixel_m) || pixel_m <= 0) {
    throw InputError(text("the object pixel is ", pixel_m,
                          " m but must be positive; check the experiment's distance, wavelength "
                          "and detector pixel"));
  }
  WindowGrid grid;
  grid.window = window;
  const Shape2 min_object{window.h + 2 * margin_px, window.w + 2 * margin_px};
  grid.object = min_object;
  grid.pixel_m = pixel_m;
  const Vec2 min_m = min_of(positions_m);
  const double margin_m = margin_px * pixel_m;
  grid.origin_m = min_m - Vec2{margin_m, margin_m};
  grid.corner.reserve(positions_m.size());
  for (Vec2& p : positions_m) {
    const Rounded y = rounded((p.y - min_m.y) / pixel_m, min_object.h, pixel_m);
    const Rounded x = rounded((p.x - min_m.x) / pixel_m, min_object.w, pixel_m);
    grid.corner.push_back({margin_px + y.whole, margin_px + x.whole});
    p = {y.rest, x.rest};
    grid.object.h = std::max(grid.object.h, y.whole + min_object.h);
    grid.object.w = std::max(grid.object.w, x.whole + min_object.w);
  }
  constexpr std::int64_t max_area_px = std::int64_t{1} << 36;
  if (grid.object.size() > max_area_px)
    throw too_wide(text("covers ", grid.object.h, " x ", grid.object.w), pixel_m,
                   "more than 2^36 together");
  grid.subpixel = std::move(positions_m);
  return grid;
}

void round_subpixel(WindowGrid& grid, int bins) {
  for (Vec2& part : grid.subpixel)
    part = {std::round(part.y * bins) / bins, std::round(part.x * bins) / bins};
}

std::vector<std::uint16_t> subpixel_bins(const WindowGrid& grid, int bins) {
  const auto bin = [&](double part) { return std::lround(part * bins) + (bins + 1) / 2; };
  std::vector<std::uint16_t> found;
  found.reserve(grid.subpixel.size());
  for (const Vec2 part : grid.subpixel)
    found.push_back(static_cast<std::uint16_t>(bin(part.y) * (bins + 2) + bin(part.x)));
  return found;
}

std::vector<Vec2> raster_scan(int rows, int columns, Vec2 step_m, double rotation_rad) {
  const double sine = std::sin(rotation_rad);
  const double cosine = std::cos(rotation_rad);
  std::vector<Vec2> positions_m;
  positions_m.reserve(static_cast<std::size_t>(rows) * columns);
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const double y = row * step_m.y;
      const double x = column * step_m.x;
      positions_m.push_back({x * sine + y * cosine, x * cosine - y * sine});
    }
  }
  return positions_m;
}

std::vector<Vec2> fermat_scan(int n, double step_m) {
  const double golden_angle_rad = std::numbers::pi * (3 - std::sqrt(5.0));
  // The disc of radius c sqrt(k) holds k positions of area step_m^2.
  const double c_m = step_m / std::sqrt(std::numbers::pi);
  std::vector<Vec2> positions_m;
  positions_m.reserve(n);
  for (int k = 0; k < n; ++k)
    positions_m.push_back(polar(c_m * std::sqrt(k), k * golden_angle_rad));
  return positions_m;
}

std::vector<Vec2> concentric_scan(int n, double step_m) {
  std::vector<Vec2> positions_m;
  positions_m.reserve(n);
  for (int ring = 0; std::ssize(positions_m) < n; ++ring) {
    const int n_on_ring = std::max(1, static_cast<int>(std::lround(2 * std::numbers::pi * ring)));
    for (int k = 0; k < n_on_ring && std::ssize(positions_m) < n; ++k) {
      positions_m.push_back(polar(ring * step_m, 2 * std::numbers::pi * k / n_on_ring));
    }
  }
  return positions_m;
}

void jitter(std::span<Vec2> positions_m, double amplitude_m, std::uint64_t seed) {
  for (std::size_t i = 0; i < positions_m.size(); ++i) {
    positions_m[i].y += amplitude_m * (2 * random_unit(seed, 2 * i) - 1);
    positions_m[i].x += amplitude_m * (2 * random_unit(seed, 2 * i + 1) - 1);
  }
}

}  // namespace tessera::geometry

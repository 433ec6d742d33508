/// Where the windows of a resumed run are, and were when its tiles were cut.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "result_file.hpp"
#include "scan_rows.hpp"
#include "stored_fields.hpp"

namespace tessera::run {
namespace {

constexpr const char* displacement_at_cut = "tiles/displacement_px";

double distance_px(Vec2 a, Vec2 b) {
  return std::max(std::abs(a.y - b.y), std::abs(a.x - b.x));
}

std::vector<Vec2> clamped_pairs(const std::vector<double>& values, double limit) {
  std::vector<Vec2> pairs;
  for (std::size_t i = 0; i + 1 < values.size(); i += 2)
    pairs.push_back(
        {std::clamp(values[i], -limit, limit), std::clamp(values[i + 1], -limit, limit)});
  return pairs;
}

/// What is now may have another limit than it had.
double limit_px(const std::string& dataset, const deck::Refine& refine) {
  return dataset == ResultFile::displacement_name ? refine.positions.limit_px
                                                  : std::numeric_limits<double>::max();
}

Vec2 window_corner_px(const geometry::WindowGrid& grid, std::size_t position, Vec2 displacement) {
  return as_vec2(grid.corner[position]) + grid.subpixel[position] + displacement;
}

}  // namespace

/// Rank 0 looks, a piece at a time.
WindowsAtCut ResultFile::windows_at_cut(const deck::Refine& refine,
                                        const geometry::WindowGrid& grid) const {
  if (refine.positions.from_epoch < 0 || !file_.has(displacement_name)) return {};
  const std::size_t n = grid.corner.size();
  std::array<int, 2> found{};
  comm_.together([&] {
    check_size(displacement_name, 2 * n);
    if (!same_grid(grid) || !file_.has(displacement_at_cut) ||
        !file_.has("parameters/window_subpixel_px"))
      return;
    check_size("window_corner_px", 2 * n);
    check_size(displacement_at_cut, 2 * n);
    if (!comm_.is_root()) return;
    double from_windows_px = 0;
    double drift_px = 0;
    for_each_piece(std::ssize(grid.corner), [&](std::int64_t first, std::int64_t count) {
      const auto corners = read_pairs_alone("window_corner_px", first, count, refine);
      const auto now = read_pairs_alone(displacement_name, first, count, refine);
      const auto at_cut = read_pairs_alone(displacement_at_cut, first, count, refine);
      for (std::size_t i = 0; i < now.size(); ++i) {
        const Vec2 corner = window_corner_px(grid, static_cast<std::size_t>(first) + i, now[i]);
        from_windows_px = std::max(from_windows_px, distance_px(corners[i], corner));
        drift_px = std::max(drift_px, distance_px(now[i], at_cut[i]));
      }
    });
    constexpr double rounding_px = 1e-6;
    found = {from_windows_px < rounding_px, tiles_are_due(refine, drift_px)};
  });
  comm_.broadcast(std::span<int>(found));
  const auto [same_windows, due] = found;
  return {same_windows && !due ? displacement_at_cut : displacement_name, same_windows != 0};
}

/// Rank 0 reads for all, a piece at a time.
std::vector<Pixel> ResultFile::moved_corners(const std::string& displacement,
                                             const deck::Refine& refine,
                                             const geometry::WindowGrid& grid) const {
  std::vector<Pixel> corners = grid.corner;
  for_each_piece(std::ssize(corners), [&](std::int64_t first, std::int64_t count) {
    std::vector<Vec2> moved(static_cast<std::size_t>(count));
    comm_.together([&] {
      if (comm_.is_root()) moved = read_pairs_alone(displacement, first, count, refine);
    });
    comm_.broadcast(std::span(moved));
    for (std::size_t i = 0; i < moved.size(); ++i) {
      if (moved[i] == Vec2{}) continue;
      const auto position = static_cast<std::size_t>(first) + i;
      corners[position] = nearest(window_corner_px(grid, position, moved[i]));
    }
  });
  return corners;
}

std::vector<Vec2> ResultFile::displacements(const std::string& displacement,
                                            const deck::Refine& refine, const Scan& scan) const {
  return clamped_pairs(read_rows(file_, displacement, 2, scan, comm_),
                       limit_px(displacement, refine));
}

/// Of (position, 2), by this rank alone.
std::vector<Vec2> ResultFile::read_pairs_alone(const std::string& name, std::int64_t first,
                                               std::int64_t count,
                                               const deck::Refine& refine) const {
  std::vector<double> values(static_cast<std::size_t>(2 * count));
  file_.read_slab_alone(name, {first, 0}, {count, 2}, io::ElementType::f64, values.data());
  return clamped_pairs(values, limit_px(name, refine));
}

}  // namespace tessera::run

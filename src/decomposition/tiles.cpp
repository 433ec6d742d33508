#include "tessera/decomposition/tiles.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

namespace tessera::decomposition {
namespace {

using Axis = int Pixel::*;

/// A box of the object, on its way to become `n_tiles` tiles.
struct Part {
  Box box;
  std::vector<int> positions;
  int n_tiles;
};

struct Windows {
  Shape2 window;
  std::span<const Pixel> corner;
};

void check(Shape2 object, const Windows& scan, int n_tiles, std::optional<TileGrid> grid);
std::vector<Part> bisected(const Windows& scan, Part part, int n, std::optional<Axis> along);
std::pair<Part, Part> cut(const Windows& scan, Part part, int n_tiles_first, Axis axis);
int cut_index(const Part& part, int n_tiles_first);
int cut_pixel(const Windows& scan, const Part& part, int index, int n_tiles_first, Axis axis);
Tile finished(const Windows& scan, Part part, Shape2 object, int ghost_margin_px);

}  // namespace

std::vector<int> tile_of_positions(const Tiling& tiling) {
  std::size_t n_positions = 0;
  for (const Tile& tile : tiling.tiles) n_positions += tile.positions.size();
  std::vector<int> tile_of(n_positions);
  for (std::size_t i = 0; i < tiling.tiles.size(); ++i)
    for (const int position : tiling.tiles[i].positions) tile_of[position] = static_cast<int>(i);
  return tile_of;
}

Tiling make_tiling(Shape2 object, Shape2 window, std::span<const Pixel> corner, int n_tiles,
                   std::optional<TileGrid> grid, int ghost_margin_px) {
  const Windows scan{window, corner};
  check(object, scan, n_tiles, grid);
  if (ghost_margin_px < 0)
    throw std::invalid_argument(text("make_tiling: ghost_margin_px = ", ghost_margin_px));
  Part whole{Box::at({0, 0}, object), std::vector<int>(corner.size()), n_tiles};
  std::iota(whole.positions.begin(), whole.positions.end(), 0);

  Tiling tiling{object, window, {}};
  tiling.tiles.reserve(n_tiles);
  const auto keep = [&](std::vector<Part> parts) {
    for (Part& part : parts)
      tiling.tiles.push_back(finished(scan, std::move(part), object, ghost_margin_px));
  };
  if (grid) {
    for (Part& row : bisected(scan, std::move(whole), grid->rows, &Pixel::y)) {
      keep(bisected(scan, std::move(row), grid->columns, &Pixel::x));
    }
  } else {
    keep(bisected(scan, std::move(whole), n_tiles, {}));
  }
  return tiling;
}

namespace {

void check(Shape2 object, const Windows& scan, int n_tiles, std::optional<TileGrid> grid) {
  if (grid) {
    const auto [rows, columns] = *grid;
    const std::int64_t made = std::int64_t{rows} * columns;
    if (rows < 1 || columns < 1) {
      throw InputError(text("decomposition.tiles = [", rows, ", ", columns,
                            "] must be two positive numbers; use tiles = \"auto\" to let the scan "
                            "decide"));
    }
    if (made != n_tiles) {
      throw InputError(text("decomposition.tiles = [", rows, ", ", columns, "] makes ", made,
                            " tiles but the job has ", n_tiles,
                            " ranks; use tiles = \"auto\" or start ", made, " ranks"));
    }
  }
  if (n_tiles < 1) throw std::invalid_argument(text("make_tiling: n_tiles = ", n_tiles));
  const Box all = Box::at({0, 0}, object);
  for (std::size_t i = 0; i < scan.corner.size(); ++i) {
    const Box window = Box::at(scan.corner[i], scan.window);
    if (all.contains(window)) continue;
    throw std::invalid_argument(
        text("make_tiling: window ", window, " of position ", i, " leaves the object ", all));
  }
}

/// The `n` parts of `part`, each worth part.n_tiles / n tiles, in the order of the cuts.
std::vector<Part> bisected(const Windows& scan, Part part, int n, std::optional<Axis> along) {
  if (n == 1) return {std::move(part)};
  const Axis longer = part.box.height() >= part.box.width() ? &Pixel::y : &Pixel::x;
  const int n_first = n / 2;
  const int n_tiles_first = part.n_tiles / n * n_first;
  auto [first, second] = cut(scan, std::move(part), n_tiles_first, along.value_or(longer));
  std::vector<Part> parts = bisected(scan, std::move(first), n_first, along);
  for (Part& p : bisected(scan, std::move(second), n - n_first, along)) {
    parts.push_back(std::move(p));
  }
  return parts;
}

std::pair<Part, Part> cut(const Windows& scan, Part part, int n_tiles_first, Axis axis) {
  const Axis other = axis == &Pixel::y ? &Pixel::x : &Pixel::y;
  const auto key = [&](int i) {
    return std::tuple(scan.corner[i].*axis, scan.corner[i].*other, i);
  };
  std::sort(part.positions.begin(), part.positions.end(),
            [&](int i, int j) { return key(i) < key(j); });
  const int index = cut_index(part, n_tiles_first);
  const int pixel = cut_pixel(scan, part, index, n_tiles_first, axis);

  const auto middle = part.positions.begin() + index;
  Part second{part.box, {middle, part.positions.end()}, part.n_tiles - n_tiles_first};
  second.box.begin.*axis = pixel;
  part.positions.erase(middle, part.positions.end());
  part.box.end.*axis = pixel;
  part.n_tiles = n_tiles_first;
  return {std::move(part), std::move(second)};
}

/// How many of the sorted positions go to the first side: its share, rounded, a half down.
int cut_index(const Part& part, int n_tiles_first) {
  const auto n_tiles = static_cast<std::int64_t>(part.n_tiles);
  const std::int64_t share_times_2n = 2 * std::ssize(part.positions) * n_tiles_first;
  return static_cast<int>((share_times_2n + n_tiles - 1) / (2 * n_tiles));
}

/// Between the window centres on both sides of the cut; by area where one side has no positions.
int cut_pixel(const Windows& scan, const Part& part, int index, int n_tiles_first, Axis axis) {
  if (index == 0 || index == std::ssize(part.positions)) {
    const int begin = part.box.begin.*axis;
    const std::int64_t length = part.box.end.*axis - begin;
    return begin + static_cast<int>(length * n_tiles_first / part.n_tiles);
  }
  const int window = axis == &Pixel::y ? scan.window.h : scan.window.w;
  const int before = scan.corner[part.positions[index - 1]].*axis;
  const int after = scan.corner[part.positions[index]].*axis;
  return std::midpoint(before, after) + window / 2;
}

Tile finished(const Windows& scan, Part part, Shape2 object, int ghost_margin_px) {
  Tile tile{part.box, part.box, std::move(part.positions)};
  std::sort(tile.positions.begin(), tile.positions.end());
  for (const int i : tile.positions) {
    tile.ghosted = hull(tile.ghosted, Box::at(scan.corner[i], scan.window));
  }
  if (!tile.ghosted.empty())
    tile.ghosted = intersection(grown(tile.ghosted, ghost_margin_px), Box::at({0, 0}, object));
  return tile;
}

}  // namespace
}  // namespace tessera::decomposition

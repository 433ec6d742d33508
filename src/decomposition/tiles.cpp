#include "tessera/decomposition/tiles.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

namespace tessera::decomposition {
namespace {

using Axis = int Pixel::*;

/// A box of the object, on its way to become `n_tiles` tiles.
struct Part {
  Box box;
  std::span<int> positions;  ///< ascending
  int n_tiles;
};

struct Windows {
  Shape2 window;
  std::span<const Pixel> corner;
};

/// Cuts a part in two until each is a tile.
class TileCutter {
 public:
  TileCutter(const Windows& scan, std::optional<TileGrid> grid, int ghost_margin_px,
             std::optional<int> whose_positions, Tiling& tiling)
      : scan_(scan),
        grid_(grid),
        ghost_margin_px_(ghost_margin_px),
        whose_positions_(whose_positions),
        tiling_(tiling) {}
  void cut_up(const Part& part);

 private:
  std::pair<Part, Part> cut(const Part& part, int n_tiles_first, bool along_y);
  Tile finished(const Part& part) const;

  Windows scan_;
  std::optional<TileGrid> grid_;
  int ghost_margin_px_;
  std::optional<int> whose_positions_;
  Tiling& tiling_;
  PositionSplit split_;
};

void check(Shape2 object, const Windows& scan, int n_tiles, std::optional<TileGrid> grid);
std::size_t cut_index(const Part& part, int n_tiles_first);
int cut_pixel(const Windows& scan, const Part& part, std::size_t index, const PositionCut& cut,
              int n_tiles_first);

}  // namespace

int Tiling::tile_of(int position, Pixel corner) const {
  int first = 0;
  int end = static_cast<int>(tiles.size());
  for (auto cut = cuts.begin(); end - first > 1;) {
    const bool is_before = cut->at.is_before(corner, position);
    const int middle = first + cut->n_tiles_first;
    cut += is_before ? 1 : cut->n_tiles_first;
    (is_before ? end : first) = middle;
  }
  return first;
}

std::vector<int> tile_of_positions(const Tiling& tiling, std::span<const Pixel> corner) {
  std::vector<int> tile_of;
  tile_of.reserve(corner.size());
  for (const Pixel at : corner)
    tile_of.push_back(tiling.tile_of(static_cast<int>(tile_of.size()), at));
  return tile_of;
}

Tiling make_tiling(Shape2 object, Shape2 window, std::span<const Pixel> corner, int n_tiles,
                   std::optional<TileGrid> grid, int ghost_margin_px,
                   std::optional<int> whose_positions) {
  const Windows scan{window, corner};
  check(object, scan, n_tiles, grid);
  if (ghost_margin_px < 0)
    throw std::invalid_argument(text("make_tiling: ghost_margin_px = ", ghost_margin_px));
  std::vector<int> positions(corner.size());
  std::iota(positions.begin(), positions.end(), 0);
  Tiling tiling{object, window, {}, {}};
  tiling.tiles.reserve(static_cast<std::size_t>(n_tiles));
  tiling.cuts.reserve(static_cast<std::size_t>(n_tiles));
  TileCutter(scan, grid, ghost_margin_px, whose_positions, tiling)
      .cut_up({Box::at({0, 0}, object), positions, n_tiles});
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

/// Rows before columns where a grid is given, else the longer side first.
void TileCutter::cut_up(const Part& part) {
  if (part.n_tiles == 1) {
    tiling_.tiles.push_back(finished(part));
    return;
  }
  const bool cuts_rows = grid_ && part.n_tiles > grid_->columns;
  const int unit = cuts_rows ? grid_->columns : 1;
  const bool along_y = grid_ ? cuts_rows : part.box.height() >= part.box.width();
  const auto [first, second] = cut(part, part.n_tiles / unit / 2 * unit, along_y);
  cut_up(first);
  cut_up(second);
}

std::pair<Part, Part> TileCutter::cut(const Part& part, int n_tiles_first, bool along_y) {
  const Axis axis = along_y ? &Pixel::y : &Pixel::x;
  const std::size_t index = cut_index(part, n_tiles_first);
  const PositionCut at = split_.split(part.positions, index, scan_.corner, along_y);
  tiling_.cuts.push_back({at, n_tiles_first});
  const int pixel = cut_pixel(scan_, part, index, at, n_tiles_first);
  Part first{part.box, part.positions.first(index), n_tiles_first};
  Part second{part.box, part.positions.subspan(index), part.n_tiles - n_tiles_first};
  first.box.end.*axis = pixel;
  second.box.begin.*axis = pixel;
  return {first, second};
}

/// How many of the sorted positions go to the first side: its share, rounded, a half down.
std::size_t cut_index(const Part& part, int n_tiles_first) {
  const auto n_tiles = static_cast<std::int64_t>(part.n_tiles);
  const std::int64_t share_times_2n = 2 * std::ssize(part.positions) * n_tiles_first;
  return static_cast<std::size_t>((share_times_2n + n_tiles - 1) / (2 * n_tiles));
}

/// Between the window centres on both sides of the cut; by area where one side has no positions.
int cut_pixel(const Windows& scan, const Part& part, std::size_t index, const PositionCut& cut,
              int n_tiles_first) {
  const Axis axis = cut.along_y ? &Pixel::y : &Pixel::x;
  if (index == 0 || index == part.positions.size()) {
    const int begin = part.box.begin.*axis;
    const std::int64_t length = part.box.end.*axis - begin;
    return begin + static_cast<int>(length * n_tiles_first / part.n_tiles);
  }
  const int window = cut.along_y ? scan.window.h : scan.window.w;
  int before = 0;
  for (const int i : part.positions.first(index)) before = std::max(before, scan.corner[i].*axis);
  return std::midpoint(before, cut.corner.*axis) + window / 2;
}

Tile TileCutter::finished(const Part& part) const {
  Tile tile{part.box, part.box, static_cast<int>(part.positions.size()), {}};
  if (!whose_positions_ || *whose_positions_ == std::ssize(tiling_.tiles))
    tile.positions.assign(part.positions.begin(), part.positions.end());
  for (const int i : part.positions)
    tile.ghosted = hull(tile.ghosted, Box::at(scan_.corner[i], scan_.window));
  if (!tile.ghosted.empty())
    tile.ghosted =
        intersection(grown(tile.ghosted, ghost_margin_px_), Box::at({0, 0}, tiling_.object));
  return tile;
}

}  // namespace
}  // namespace tessera::decomposition

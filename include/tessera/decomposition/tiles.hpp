#pragma once
/// Who owns which object pixels and which scan positions. Pure: the same answer on every rank, no
/// communication.

#include <optional>
#include <span>
#include <vector>

#include "tessera/base/box.hpp"
#include "tessera/decomposition/position_split.hpp"

namespace tessera::decomposition {

/// A rank's part of the object and of the scan.
struct Tile {
  Box owned;    ///< pixels that this rank alone updates; may be empty
  Box ghosted;  ///< hull of `owned` and the windows of `positions`, with a margin: all that the
                ///< rank holds
  int n_positions = 0;         ///< of this rank; may be 0
  std::vector<int> positions;  ///< these, ascending; see make_tiling
};

/// Where tiles are parted: positions before the cut are in the first `n_tiles_first` of its tiles.
struct TileCut {
  PositionCut at;
  int n_tiles_first = 0;
};

/// The tiles of all ranks. Owned boxes partition [0, object.h) x [0, object.w); every position has
/// one tile.
struct Tiling {
  Shape2 object;
  Shape2 window;
  std::vector<Tile> tiles;
  /// The first parts all tiles; behind each follow those of its first tiles, then of the others.
  std::vector<TileCut> cuts;

  /// @param corner of its window when the tiles were cut
  int tile_of(int position, Pixel corner) const;
};

/// The tile of every scan position.
std::vector<int> tile_of_positions(const Tiling& tiling, std::span<const Pixel> corner);

struct TileGrid {
  int rows;
  int columns;
};

/// Cut the object into `n_tiles` by recursive bisection of the window centres (Berger & Bokhari
/// 1987), the longer side first, so that tiles have equally many positions whatever the scan's
/// shape and the rank count.
/// @param corner whole-pixel window corner of every scan position
/// @param grid cut into rows x columns instead (tiles in row-major order), each row cut for itself
/// @param ghost_margin_px how far ghosted boxes reach past their hull, within the object: for
/// stencils, and positions that move
/// @param whose_positions the only tile whose positions are listed; none: those of all are
/// @throws InputError if the grid does not make n_tiles
/// @throws std::invalid_argument if a window leaves the object or the margin is negative
Tiling make_tiling(Shape2 object, Shape2 window, std::span<const Pixel> corner, int n_tiles,
                   std::optional<TileGrid> grid = {}, int ghost_margin_px = 0,
                   std::optional<int> whose_positions = {});

}  // namespace tessera::decomposition

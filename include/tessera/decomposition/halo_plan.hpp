#pragma once
/// Which pixels travel between which ranks. Pure data, made once before the loop.

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/base/box.hpp"
#include "tessera/decomposition/tiles.hpp"

namespace tessera::decomposition {

/// What one rank exchanges with one peer. In a fill `owned_here` is sent and `ghost_here` received;
/// in an accumulate the other way round. Boxes are in object pixels; either may be empty.
struct PeerBoxes {
  int peer = 0;
  Box owned_here;  ///< pixels owned here that the peer holds as ghosts
  Box ghost_here;  ///< pixels held here as ghosts that the peer owns
};

/// Peers in ascending order, from the intersection of boxes over all ranks: any distance, any
/// number.
struct HaloPlan {
  Box owned;
  Box ghosted;
  std::vector<PeerBoxes> peers;
  int rank = 0;  ///< whose plan it is
  std::int64_t ghost_pixels() const;
};

HaloPlan make_halo_plan(const Tiling& tiling, int rank);

/// True for each of the tile's positions whose window reaches a pixel that another rank owns.
std::vector<bool> touches_ghosts(const Tiling& tiling, int rank, std::span<const Pixel> corner);

}  // namespace tessera::decomposition

#include "tessera/decomposition/halo_plan.hpp"

namespace tessera::decomposition {

std::int64_t HaloPlan::ghost_pixels() const {
  return ghosted.area() - owned.area();
}

HaloPlan make_halo_plan(const Tiling& tiling, int rank) {
  const Tile& here = tiling.tiles[rank];
  HaloPlan plan{here.owned, here.ghosted, {}, rank};
  for (int peer = 0; peer < std::ssize(tiling.tiles); ++peer) {
    if (peer == rank) continue;
    const Tile& there = tiling.tiles[peer];
    const PeerBoxes boxes{peer, intersection(here.owned, there.ghosted),
                          intersection(here.ghosted, there.owned)};
    if (!boxes.owned_here.empty() || !boxes.ghost_here.empty()) plan.peers.push_back(boxes);
  }
  return plan;
}

std::vector<bool> touches_ghosts(const Tiling& tiling, int rank, std::span<const Pixel> corner) {
  const Tile& tile = tiling.tiles[rank];
  std::vector<bool> touches;
  touches.reserve(tile.positions.size());
  for (const int i : tile.positions) {
    touches.push_back(!tile.owned.contains(Box::at(corner[i], tiling.window)));
  }
  return touches;
}

}  // namespace tessera::decomposition

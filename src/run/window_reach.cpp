#include "window_reach.hpp"

#include <algorithm>

namespace tessera::run {

WindowReach window_reach(const Scan& scan, const decomposition::Tiling& tiling) {
  const int reach_px = scan.plan.reach_px;
  const Shape2& object = scan.grid.object;
  WindowReach reach{.window = {tiling.window.h + 2 * reach_px, tiling.window.w + 2 * reach_px},
                    .corner = scan.corner,
                    .tile_of = decomposition::tile_of_positions(tiling, scan.corner)};
  // What lies beyond the object no window reaches.
  for (Pixel& corner : reach.corner)
    corner = {std::clamp(corner.y - reach_px, 0, object.h - reach.window.h),
              std::clamp(corner.x - reach_px, 0, object.w - reach.window.w)};
  return reach;
}

}  // namespace tessera::run

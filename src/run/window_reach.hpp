#pragma once
/// The pixels that windows may ever reach, those that move too.

#include "tessera/decomposition/batch_halo.hpp"

#include "run/scan.hpp"

namespace tessera::run {

/// Of every scan position, object pixels.
struct WindowReach {
  Shape2 window;
  std::vector<Pixel> corner;
  std::vector<int> tile_of;

  operator decomposition::ScanWindows() const { return {window, corner, tile_of}; }
};

/// @param tiling of the scan, on any number of ranks
WindowReach window_reach(const Scan& scan, const decomposition::Tiling& tiling);

}  // namespace tessera::run

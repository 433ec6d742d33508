#pragma once
/// Who owns what, as a picture.

#include <span>
#include <string>

#include "tessera/decomposition/tiles.hpp"

namespace tessera::run {

/// tiles_N.png for N tiles: owned boxes in colours with the ranks' numbers, outlines of what each
/// holds, the centres of the windows. On the calling rank alone.
/// @param corner of all windows
/// @param folder made if it does not exist
/// @throws SystemError naming the path
void draw_tiles(const decomposition::Tiling& tiling, std::span<const Pixel> corner,
                const std::string& folder);

}  // namespace tessera::run

// Cuts a line of four windows into two tiles, without MPI.

#include <cstdint>
#include <cstdio>
#include <vector>

#include "tessera/decomposition/tiles.hpp"

int main() {
  const std::vector<tessera::Pixel> corner = {{0, 0}, {0, 10}, {0, 20}, {0, 30}};
  const auto tiling = tessera::decomposition::make_tiling({8, 38}, {8, 8}, corner, 2);
  std::int64_t owned_pixels = 0;
  bool balanced = true;
  for (const auto& tile : tiling.tiles) {
    owned_pixels += tile.owned.area();
    balanced = balanced && tile.positions.size() == 2;
  }
  std::printf("%zu tiles own %lld pixels\n", tiling.tiles.size(),
              static_cast<long long>(owned_pixels));
  return tiling.tiles.size() == 2 && balanced && owned_pixels == 8 * 38 ? 0 : 1;
}

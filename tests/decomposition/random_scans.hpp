#pragma once
/// Scans of every shape, drawn from a number. Small, so that a test may count pixels.

#include <algorithm>
#include <string>
#include <vector>

#include "tessera/base/random.hpp"
#include "tessera/base/text.hpp"
#include "tessera/geometry/windows.hpp"

namespace tessera::testing {

struct RandomScan {
  std::string name;
  geometry::WindowGrid grid;
  int n_tiles;
};

/// The same scan for the same `seed`. n_tiles <= 64, often more than there are positions.
inline RandomScan random_scan(std::uint64_t seed) {
  std::uint64_t index = 0;
  const auto between = [&](int min, int max) {
    return min + static_cast<int>(random_bits(seed, index++) % (max - min + 1));
  };
  const Shape2 window{between(4, 40), between(4, 40)};
  const double step = between(1, 6) + 0.3;
  const int n = between(2, 150);

  std::string name;
  std::vector<Vec2> positions;
  switch (seed % 9) {
    case 0:
      name = "raster";
      positions = geometry::raster_scan(between(2, 12), between(2, 12), {step, step + 1});
      break;
    case 1:
      name = "turned and jittered raster";
      positions = geometry::raster_scan(between(2, 12), between(2, 12), {step, step}, 0.4);
      geometry::jitter(positions, 0.4 * step, seed);
      break;
    case 2:
      name = "spiral";
      positions = geometry::fermat_scan(n, step);
      break;
    case 3:
      name = "rings";
      positions = geometry::concentric_scan(n, step);
      break;
    case 4:
      name = "line";
      positions =
          seed % 2 ? geometry::raster_scan(1, n, {0, 1}) : geometry::raster_scan(n, 1, {1, 0});
      break;
    case 5:
      name = "clusters";
      positions.assign(n, {});
      for (int i = 0; i < n; ++i) positions[i] = {i % 3 * 30.0, i % 2 * 40.0};
      geometry::jitter(positions, 3, seed);
      break;
    case 6:
      name = "one position";
      positions = {{0, 0}};
      break;
    case 7:
      name = "scan narrower than the probe";
      positions.assign(n, {});
      geometry::jitter(positions, 2, seed);
      break;
    default:
      name = "all in one place";
      positions.assign(n, {});
  }

  const int n_tiles = std::max(1, between(1, 8) * between(1, 8) - between(0, 3));
  const std::string full_name =
      text(name, ", seed ", seed, ", ", positions.size(), " positions on ", n_tiles, " tiles");
  return {full_name, geometry::lay_windows(positions, window, 1.0), n_tiles};
}

constexpr std::uint64_t n_random_scans = 450;

}  // namespace tessera::testing

#include "scan_orientation.hpp"

#include <cmath>

namespace tessera::analysis {
namespace {

/// Least curl over all rotations of a field (y, x).
ScanOrientation least_curl(const std::vector<Vec2>& field, Shape2 raster) {
  const auto at = [&](int y, int x) { return field[static_cast<std::size_t>(y * raster.w + x)]; };
  double curl_2 = 0;
  double divergence_2 = 0;
  double product = 0;
  for (int y = 1; y + 1 < raster.h; ++y)
    for (int x = 1; x + 1 < raster.w; ++x) {
      const Vec2 along_y = at(y + 1, x) - at(y - 1, x);
      const Vec2 along_x = at(y, x + 1) - at(y, x - 1);
      const double curl = along_y.x - along_x.y;
      const double divergence = along_y.y + along_x.x;
      curl_2 += curl * curl;
      divergence_2 += divergence * divergence;
      product += curl * divergence;
    }
  // (curl cos - divergence sin)^2 summed is (A + B) / 2 + (A - B) / 2 cos 2t - C sin 2t.
  const double half_difference = (divergence_2 - curl_2) / 2;
  const double total = curl_2 + divergence_2;
  ScanOrientation found;
  found.rotation_rad = -std::atan2(product, half_difference) / 2;
  if (total > 0) found.curl_share = 0.5 - std::hypot(half_difference, product) / total;
  return found;
}

}  // namespace

ScanOrientation find_scan_orientation(const std::vector<Vec2>& centres, Shape2 raster) {
  std::vector<Vec2> exchanged;
  exchanged.reserve(centres.size());
  for (const Vec2 centre : centres) exchanged.push_back({centre.x, centre.y});
  const ScanOrientation straight = least_curl(centres, raster);
  ScanOrientation crossed = least_curl(exchanged, raster);
  crossed.transpose = true;
  return crossed.curl_share < straight.curl_share ? crossed : straight;
}

}  // namespace tessera::analysis

#pragma once
/// How the light of a detector pixel spreads to its neighbours.

#include <algorithm>
#include <cmath>
#include <vector>

namespace tessera::geometry {

/// Pixels first, first + 1, ... away get these shares of what falls on one, along one axis.
struct PointSpread {
  int first = 0;
  std::vector<double> share;  ///< none below 0, their sum 1
};

/// A Gaussian, on a ring of `n` pixels, in real space: as sums of what is not negative, dark pixels
/// beside bright ones are as exact as these. By way of transforms rounding would fill them, and a
/// Gaussian narrower than a pixel would ring.
inline PointSpread point_spread(int n, double sigma_px) {
  const int reach = static_cast<int>(std::ceil(5 * sigma_px));
  PointSpread spread{-std::min(reach, n / 2), {}};
  spread.share.resize(static_cast<std::size_t>(1 - spread.first + std::min(reach, (n - 1) / 2)));
  double sum = 0;
  for (int distance = -reach; distance <= reach; ++distance) {
    const double value = std::exp(-0.5 * distance * distance / (sigma_px * sigma_px));
    const int on_ring = ((distance - spread.first) % n + n) % n;
    spread.share[static_cast<std::size_t>(on_ring)] += value;
    sum += value;
  }
  for (double& share : spread.share) share /= sum;
  return spread;
}

}  // namespace tessera::geometry

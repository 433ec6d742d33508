#pragma once
/// A smooth sample without symmetry.

#include <cmath>

#include "tessera/base/box.hpp"

namespace tessera::testing {

/// Waves of many directions, some 4 to 20 units long times `size`.
inline double texture(Vec2 at, double size = 1) {
  double value = 0;
  for (int wave = 0; wave < 24; ++wave) {
    const double angle = 2.4 * wave;
    const double k = (0.3 + 0.05 * wave) / size;
    value += std::cos(k * (std::cos(angle) * at.y + std::sin(angle) * at.x) + 7.1 * wave);
  }
  return value;
}

}  // namespace tessera::testing

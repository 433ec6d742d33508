#pragma once

#include "support/small_scan.hpp"

namespace tessera::fft {

inline WaveStack scaled(WaveStack waves, double factor) {
  for (auto& value : waves) value *= factor;
  return waves;
}

}  // namespace tessera::fft

#pragma once
/// How large a synthetic scan is.

#include "tessera/base/box.hpp"

namespace tessera::scaling {

struct SyntheticCase {
  Shape2 raster{16, 16};  ///< positions: rows, columns
  int step_px = 8;
  int window_px = 64;
};

}  // namespace tessera::scaling

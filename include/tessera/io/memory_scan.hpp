#pragma once
/// A scan that is no file: its patterns lie in the program's memory.

#include <functional>
#include <vector>

#include "tessera/base/box.hpp"
#include "tessera/base/image_stack.hpp"

namespace tessera::io {

struct MemoryScan {
  Shape2 shape;                   ///< of a pattern
  std::vector<Vec2> positions_m;  ///< of all patterns, (y, x), on all ranks alike
  /// Writes counts of the patterns first ... first + n - 1, (n, h, w), zero frequency where
  /// data.zero_frequency says. Every rank asks for a contiguous share of the scan, some patterns at
  /// a time, one of them perhaps again.
  std::function<void(int first, int n, float* counts)> read;
  ImageStack<double> valid_pixels = {};  ///< (1, h, w), 1 = trust; empty: every pixel
};

}  // namespace tessera::io

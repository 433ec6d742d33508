#pragma once
/// A result whose every number is known.

#include <string>

#include "tessera/base/image_stack.hpp"

namespace tessera::testing {

struct SmallResult {
  std::string title = "a small result";
  double pixel_m = 20e-9;
  WaveStack object;               ///< (1, 40, 48); a test may make it two slices
  WaveStack probe;                ///< (3, 16, 16): two modes and an OPR mode
  ImageStack<double> background;  ///< zero frequency at [0, 0]
  Box lit{{4, 4}, {36, 44}};      ///< what the 12 windows cover

  SmallResult();
  /// Position i is at (y, x) = 1e-6 (i, 2 i), refinement moved it there by (0.5, -0.25 i) pixels.
  static constexpr int n_positions = 12;
  double intensity(int position) const { return 1 + 0.01 * position; }
  double opr_weight(int position) const { return 0.1 * position - 0.5; }
  void write(const std::string& path) const;
};

}  // namespace tessera::testing

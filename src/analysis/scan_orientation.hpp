#pragma once
/// How a scan lies on the detector, from how the patterns' centres of mass move.

#include <vector>

#include "tessera/base/box.hpp"

namespace tessera::analysis {

struct ScanOrientation {
  bool transpose = false;   ///< rows and columns of the detector are exchanged
  double rotation_rad = 0;  ///< of the raster to the (then turned) detector, or that plus pi
  double curl_share = 1;    ///< curl left, of curl and divergence: 0: clear, 0.5: nothing known
};

/// A phase object deflects the beam along the gradient of its phase, which has no curl: of all
/// rotations, with and without exchanged axes, that which leaves least. (Curl and divergence mix as
/// cosine and sine of the angle, so the least has a closed form.)
/// @param centres of mass, pixels (y, x), by scan position, row by row
ScanOrientation find_scan_orientation(const std::vector<Vec2>& centres, Shape2 raster);

}  // namespace tessera::analysis

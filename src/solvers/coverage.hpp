#pragma once
/// Which object pixels the scan lights.

#include "solvers/constraint_list.hpp"

namespace tessera::solvers {

/// At every pixel of the ghosted box, (H, W): how many windows hold it in the central half of their
/// height and width, where the beam is. From the positions at the start.
device::DeviceView<Real**> make_coverage(const ConstrainedTile& tile);

}  // namespace tessera::solvers

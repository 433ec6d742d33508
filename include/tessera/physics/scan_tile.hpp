#pragma once
/// What a rank holds of the scan: its positions on the device, and the store of their patterns.

#include <cstdint>
#include <memory>
#include <variant>

#include "tessera/base/box.hpp"
#include "tessera/device/device.hpp"

namespace tessera::physics {

/// Counts, (position, h, w), zero frequency at [0, 0], in the width in which they were measured.
using Patterns =
    std::variant<device::DeviceView<std::uint8_t***>, device::DeviceView<std::uint16_t***>,
                 device::DeviceView<std::uint32_t***>, device::DeviceView<float***>>;

class PatternStore;

struct ScanTile {
  Shape2 window;
  device::DeviceView<int* [2]> corner;  ///< window corner in the rank's ghosted box, (y, x)
  device::DeviceView<Real* [2]>
      subpixel;               ///< what the window lies beyond its corner, pixels, (y, x)
  bool has_subpixel = false;  ///< false on all ranks: every sub-pixel part is zero
  std::shared_ptr<PatternStore> patterns;
  device::DeviceView<Real**> valid_pixels;  ///< 1 = trust, zero frequency at [0, 0]
  device::DeviceView<int*> order;  ///< local positions in the order in which an epoch visits them
};

/// Positions order(begin) ... order(begin + count - 1), computed together.
struct Chunk {
  int begin = 0;
  int count = 0;
};

}  // namespace tessera::physics

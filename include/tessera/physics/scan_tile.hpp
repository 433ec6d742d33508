#pragma once
/// What a rank holds of the scan: its positions on the device, and the store of their patterns.

#include <cstdint>
#include <limits>
#include <memory>
#include <variant>

#include "tessera/base/box.hpp"
#include "tessera/decomposition/chunk_layout.hpp"
#include "tessera/device/device.hpp"
#include "tessera/physics/sizes.hpp"

namespace tessera::physics {

/// Counts, (position, h, w), zero frequency at [0, 0], in the width in which they were measured.
using Patterns =
    std::variant<device::DeviceView<std::uint8_t***>, device::DeviceView<std::uint16_t***>,
                 device::DeviceView<std::uint32_t***>, device::DeviceView<float***>>;

class PatternStore;

struct ScanTile {
  Shape2 window;
  device::DeviceView<int* [2]> corner;  ///< window corner in the rank's ghosted box, (y, x)
  bool has_subpixel = false;            ///< false on all ranks: every sub-pixel part is zero
  std::shared_ptr<PatternStore> patterns;
  device::DeviceView<Real**> valid_pixels;  ///< 1 = trust, zero frequency at [0, 0]
  Real saturation =
      std::numeric_limits<Real>::infinity();  ///< counts from here on are ignored: saturated,
                                              ///< or not trusted in one pattern alone
  device::DeviceView<Real**> background;      ///< given, counts per pattern; empty: none
  // What follows is laid out by the sweep (decomposition::ChunkLayout).
  device::DeviceView<int*> order;  ///< local positions in the order in which an epoch visits them
  device::DeviceView<int*> slot;   ///< of every ordered position, from its chunk's first_slot on
  device::DeviceView<Real* [2]> slot_shift;  ///< of every slot, pixels, (y, x)

  /// Without the patterns; with the corners' last good state.
  static std::int64_t bytes(const Sizes& sizes) {
    return sizes.n_positions *
               (bytes_of<int>(4 * sizes.model.n_sub_positions + 2) + bytes_of<Real>(2)) +
           bytes_of<Real>(sizes.window.size());
  }
};

using Chunk = decomposition::Chunk;

}  // namespace tessera::physics

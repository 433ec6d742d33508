#pragma once
/// Quantities on a rank's tile, and which of their pixels travel.

#include "tessera/decomposition/batch_halo.hpp"
#include "tessera/device/device.hpp"

namespace tessera::halo {

/// A quantity on a rank's ghosted box: (n_planes, H, W) values of `n_components` Reals each
/// (complex: 2), C order.
struct TileField {
  Real* data = nullptr;
  int n_planes = 1;
  int n_components = 1;
};

inline TileField tile_field(const device::DeviceView<device::complex***>& view) {
  return {reinterpret_cast<Real*>(view.data()), static_cast<int>(view.extent(0)), 2};
}
inline TileField tile_field(const device::DeviceView<Real***>& view) {
  return {view.data(), static_cast<int>(view.extent(0)), 1};
}

/// Fields of one tile that travel together, and the pieces of which their messages are made.
struct TileFields {
  static constexpr int max = 8;
  Kokkos::Array<TileField, max> fields;
  int n = 0;
  Shape2 tile;
  const decomposition::Piece* pieces = nullptr;  ///< on the device

  int reals_per_pixel() const {
    int reals = 0;
    for (int i = 0; i < n; ++i) reals += fields[i].n_planes * fields[i].n_components;
    return reals;
  }
};

}  // namespace tessera::halo

#pragma once
/// The planes of an object as images, in pixels of the tile.

#include "solvers/owned_tile.hpp"

namespace tessera::solvers {

using ImageView = device::DeviceView<device::complex**>;  ///< (H, W) of the ghosted box

/// Where the tile lies in the object.
struct TileFrame {
  OwnedTile tile;
  Pixel origin;
  Shape2 object;
};

inline ImageView plane_of(const device::DeviceView<device::complex***>& object, int plane) {
  const std::size_t size = object.extent(1) * object.extent(2);
  return ImageView(object.data() + static_cast<std::size_t>(plane) * size, object.extent(1),
                   object.extent(2));
}

struct CopyPixel {
  ImageView from;
  ImageView to;
  KOKKOS_FUNCTION void operator()(int, const int y, const int x) const { to(y, x) = from(y, x); }
};

/// Owned pixels of `to` = those of `from`.
inline void copy_owned(const device::Device& exec, const OwnedTile& tile, const ImageView& from,
                       const ImageView& to) {
  for_each_owned_pixel(exec, "tessera::solvers::copy_owned", 1, tile, CopyPixel{from, to});
}

inline void fill_ghosts(const device::Device& exec, Sweep& sweep,
                        const device::DeviceView<device::complex***>& object) {
  sweep.fill(exec, halo::tile_field(object));
}

inline void fill_ghosts(const device::Device& exec, Sweep& sweep, const ImageView& image) {
  sweep.fill(exec, {reinterpret_cast<Real*>(image.data()), 1, 2});
}

}  // namespace tessera::solvers

#pragma once
/// The pixels of a rank's tile that a solver updates: its own, and of these, in a batch, only those
/// that the batch has reached.

#include "tessera/decomposition/touched_blocks.hpp"
#include "tessera/device/device.hpp"
#include "tessera/solvers/sweep.hpp"

namespace tessera::solvers {

struct OwnedTile {
  Box owned;  ///< in pixels of the ghosted box
  decomposition::BlockGrid blocks;
  bool has_first_pixel;  ///< of the object: true on one rank alone

  OwnedTile(const Box& ghosted, const Box& owned_px)
      : owned(moved(owned_px, Pixel{} - ghosted.begin)),
        blocks{ghosted.shape()},
        has_first_pixel(owned_px.area() > 0 && owned_px.begin == Pixel{}) {}

  KOKKOS_FUNCTION bool owns(int y, int x) const {
    return y >= owned.begin.y && y < owned.end.y && x >= owned.begin.x && x < owned.end.x;
  }
};

namespace detail {

template <class F>
struct TouchedPixel {
  BlockList touched;
  OwnedTile tile;
  F f;
  KOKKOS_FUNCTION void operator()(const int i, const int row, const int column) const {
    const int plane = i / touched.count;
    const int block = touched.number[i - plane * touched.count];
    const int block_row = block / tile.blocks.columns();
    const int y = block_row * decomposition::BlockGrid::block.h + row;
    const int x =
        (block - block_row * tile.blocks.columns()) * decomposition::BlockGrid::block.w + column;
    if (y < tile.blocks.tile.h && x < tile.blocks.tile.w) f(plane, y, x);
  }
};

}  // namespace detail

/// f(plane, y, x) for every pixel, ghosts too, of the blocks that a batch has touched.
template <class F>
void for_each_touched_pixel(const device::Device& exec, const char* name, int n_planes,
                            const BlockList& touched, const OwnedTile& tile, const F& f) {
  device::for_each_pixel(exec, name, n_planes * touched.count, decomposition::BlockGrid::block,
                         detail::TouchedPixel<F>{touched, tile, f});
}

/// f(plane, y, x) for every owned pixel of the tile.
template <class F>
void for_each_owned_pixel(const device::Device& exec, const char* name, int n_planes,
                          const OwnedTile& tile, const F& f) {
  const int y0 = tile.owned.begin.y;
  const int x0 = tile.owned.begin.x;
  device::for_each_pixel(
      exec, name, n_planes, tile.owned.shape(),
      KOKKOS_LAMBDA(const int plane, const int y, const int x) { f(plane, y0 + y, x0 + x); });
}

}  // namespace tessera::solvers

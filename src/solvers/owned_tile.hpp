#pragma once
/// The pixels of a rank's tile that a solver updates: its own, and of these, in a batch, only those
/// that the batch has reached.

#include <cstdint>

#include "tessera/decomposition/touched_blocks.hpp"
#include "tessera/device/device.hpp"
#include "tessera/solvers/sweep.hpp"

namespace tessera::solvers {

struct OwnedTile {
  Box owned;  ///< in pixels of the ghosted box
  decomposition::BlockGrid blocks;
  bool has_first_pixel;  ///< of the object: true on one rank alone
  Pixel begin;           ///< of the ghosted box, in the object

  OwnedTile(const Box& ghosted, const Box& owned_px)
      : owned(moved(owned_px, Pixel{} - ghosted.begin)),
        blocks{ghosted.shape()},
        has_first_pixel(owned_px.area() > 0 && owned_px.begin == Pixel{}),
        begin(ghosted.begin) {}

  KOKKOS_FUNCTION bool owns(int y, int x) const {
    return y >= owned.begin.y && y < owned.end.y && x >= owned.begin.x && x < owned.end.x;
  }
};

namespace detail {

/// Pixels of a block that a thread of a GPU takes, rows apart: their values are on the way
/// together.
inline constexpr int pixels_of_thread = device::device_is_host ? 1 : 4;

template <class Update>
struct TouchedPixels {
  static constexpr Shape2 block_px = decomposition::BlockGrid::block;
  static constexpr int rows = block_px.h / pixels_of_thread;
  BlockList touched;
  OwnedTile tile;
  Update update;

  /// One number for all: what a block has is known when this is compiled, and so are the divisions.
  KOKKOS_FUNCTION void operator()(const std::int64_t number) const {
    constexpr int in_block = rows * block_px.w;
    const auto i = static_cast<int>(number / in_block);
    const auto at = static_cast<int>(number - std::int64_t{i} * in_block);
    (*this)(i, at / block_px.w, at % block_px.w);
  }
  KOKKOS_FUNCTION void operator()(const int i, const int row, const int column) const {
    const int plane = i / touched.count;
    const int block = touched.number[i - plane * touched.count];
    const int block_row = block / tile.blocks.columns();
    const int y = block_row * block_px.h + row;
    const int x = (block - block_row * tile.blocks.columns()) * block_px.w + column;
    if (x >= tile.blocks.tile.w) return;
    typename Update::Pixel pixel[pixels_of_thread];
    for (int k = 0; k < pixels_of_thread; ++k)
      if (y + k * rows < tile.blocks.tile.h) pixel[k] = update.read(plane, y + k * rows, x);
    for (int k = 0; k < pixels_of_thread; ++k)
      if (y + k * rows < tile.blocks.tile.h) update.write(plane, y + k * rows, x, pixel[k]);
  }
};

/// Of what needs no reading ahead.
template <class F>
struct AtOnce {
  struct Pixel {};
  F f;
  KOKKOS_FUNCTION Pixel read(int, int, int) const { return {}; }
  KOKKOS_FUNCTION void write(int plane, int y, int x, Pixel) const { f(plane, y, x); }
};

}  // namespace detail

/// update.write(plane, y, x, update.read(plane, y, x)) for every pixel, ghosts too, of the blocks
/// that a batch has touched. A GPU is the faster the more it may read before it writes.
template <class Update>
void update_touched_pixels(const device::Device& exec, const char* name, int n_planes,
                           const BlockList& touched, const OwnedTile& tile, const Update& update) {
  using Pixels = detail::TouchedPixels<Update>;
  const Pixels pixels{touched, tile, update};
  const int n_blocks = n_planes * touched.count;
  if constexpr (device::device_is_host) {
    device::for_each_pixel(exec, name, n_blocks, {Pixels::rows, Pixels::block_px.w}, pixels);
  } else if (n_blocks > 0) {
    Kokkos::parallel_for(device::kernel_name(name),
                         Kokkos::RangePolicy<device::Device, Kokkos::IndexType<std::int64_t>>(
                             exec, 0, std::int64_t{n_blocks} * Pixels::rows * Pixels::block_px.w),
                         pixels);
  }
}

/// f(plane, y, x) for the same pixels.
template <class F>
void for_each_touched_pixel(const device::Device& exec, const char* name, int n_planes,
                            const BlockList& touched, const OwnedTile& tile, const F& f) {
  update_touched_pixels(exec, name, n_planes, touched, tile, detail::AtOnce<F>{f});
}

namespace detail {

/// Pixels count from `begin`.
template <class F>
struct FromBegin {
  F f;
  Pixel begin;
  KOKKOS_FUNCTION void operator()(const int plane, const int y, const int x) const {
    f(plane, begin.y + y, begin.x + x);
  }
};

}  // namespace detail

/// f(plane, y, x) for every owned pixel of the tile.
template <class F>
void for_each_owned_pixel(const device::Device& exec, const char* name, int n_planes,
                          const OwnedTile& tile, const F& f) {
  device::for_each_pixel(exec, name, n_planes, tile.owned.shape(),
                         detail::FromBegin<F>{f, tile.owned.begin});
}

}  // namespace tessera::solvers

#pragma once
/// The windows of a batch, sorted by the *cell* of the object that has their corner.

#include "hot_path_window.cuh"

namespace tessera::physics::hot_path {

constexpr int cell = 64;  ///< pixels, both ways

inline int cells_along(std::int64_t pixels, int n) {
  return static_cast<int>((pixels - n) / cell) + 1;
}

struct Window {
  int y;  ///< corner
  int x;
  int slot;
  int position;
};

/// Row by row.
struct Cells {
  int down;
  int across;
  int* count;  ///< windows of every cell; zero but between two of the kernels that sort
  int* next;   ///< where a cell's next window goes
  int* begin;  ///< a cell's first window, and behind the last one
  int4* windows;

  Cells(const ScanArrays& scan, const ChunkArrays& batch, int* scratch)
      : down(cells_along(batch.object_height, scan.n)),
        across(cells_along(batch.object_width, scan.n)),
        count(scratch),
        next(count + size()),
        begin(next + size()),
        windows(reinterpret_cast<int4*>(scratch + (3 * size() + 4) / 4 * 4)) {}
  __host__ __device__ int size() const { return down * across; }
  __device__ int of(const Window& window) const {
    return window.y / cell * across + window.x / cell;
  }
  __device__ Window window(int i) const {
    const int4 w = windows[i];
    return {w.x, w.y, w.z, w.w};
  }
  __device__ void store(int i, const Window& w) const {
    windows[i] = make_int4(w.y, w.x, w.slot, w.position);
  }
};

/// Fills cells.begin and cells.windows with those of `batch`.
void sort_windows(void* stream, const ScanArrays& scan, const ChunkArrays& batch,
                  const Cells& cells);

/// dose of `add_dense_coverage`. @param powers (slot, n, n), overwritten
void add_dense_dose(void* stream, const ScanArrays& scan, const ChunkArrays& batch, int n_slots,
                    const Cells& cells, float* powers);
/// Parts of the dose that its blocks have, of a tile of so many pixels.
int tiles_of_dose(std::int64_t height, std::int64_t width);

}  // namespace tessera::physics::hot_path

#pragma once
/// What the kernels share that take whole windows: where a place's window lies.

#include "hot_path_cuda.cuh"

namespace tessera::physics::hot_path {

/// What a thread knows of the window that it works on. Objects have fewer than 2^32 pixels.
struct Place {
  unsigned object;  ///< first pixel of the window
  int slot;
  int pattern;
  int position;
};

__device__ __forceinline__ Place place_of(const ScanArrays& scan, const ChunkArrays& chunk, int j) {
  const int position = scan.order[chunk.begin + j];
  return {
      static_cast<unsigned>(scan.corner[2 * position]) * static_cast<unsigned>(chunk.object_width) +
          static_cast<unsigned>(scan.corner[2 * position + 1]),
      slot_of(scan, chunk, j), chunk.patterns_packed ? j : position, position};
}

/// Windows that a block keeps, each whole or its share of one.
__host__ __device__ constexpr int windows_at_a_time(int n) {
  return n <= 128 ? 128 * 128 / (n * n) : 1;
}

/// Whether one kernel, whose blocks have a mode each, takes `count` windows, and is faster than
/// three.
/// @param n_pixels of the object
bool better_on_chip(const ScanArrays& scan, int count, std::int64_t n_pixels);

/// Whether blocks of a cluster have several modes each, for gradients.
bool takes_modes_in_turn(int n, int n_modes);
/// What `add_gradients_on_chip` does but for dose and overlap, of such windows.
/// @param waves where spectra are put aside
void add_gradients_of_modes_in_turn(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                                    Complex* waves);

/// dose and overlap of `add_gradients`.
void add_coverage(void* stream, const ScanArrays& scan, const ChunkArrays& chunk);
/// overlap alone.
void add_overlap(void* stream, const ScanArrays& scan, const ChunkArrays& chunk);
/// background_slopes += what kernels of the chip have left in their room, which is cleared.
void gather_background_slopes(void* stream, const ScanArrays& scan, const ChunkArrays& chunk);

}  // namespace tessera::physics::hot_path

#include "hot_path_window.cuh"

namespace tessera::physics::hot_path {
namespace {

/// Fewer places than the multiprocessors take at a time leave some idle, where three kernels use
/// all: one kernel is still faster with so many eighths of them (decision 0008).
bool better_on_chip(const ScanArrays& scan, const ChunkArrays& chunk) {
  const int eighths = scan.n == 256 ? 56 : scan.n_modes > 1 ? 8 : scan.n == 64 ? 3 : 5;
  return fits_on_chip(scan.n, scan.n_modes) &&
         8 * chunk.count >= eighths * places_on_chip(scan.n, scan.n_modes) &&
         counts_pixels(chunk.object_width * chunk.object_height);
}

}  // namespace

bool supports(int n, int n_modes) {
  return n >= 32 && n <= 1024 && (n & (n - 1)) == 0 && n_modes >= 1;
}

void add_gradients(void* stream, const ScanArrays& scan, const ChunkArrays& chunk, Complex* waves) {
  if (better_on_chip(scan, chunk)) return add_gradients_on_chip(stream, scan, chunk);
  add_gradients_and_keep(stream, scan, chunk, waves);
}

void add_gradients_and_keep(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                            Complex* waves) {
  if (chunk.count == 0) return;
  exit_rows(stream, scan, chunk, waves);
  detector_columns(stream, scan, chunk, waves);
  rows_gradient(stream, scan, chunk, waves);
}

}  // namespace tessera::physics::hot_path

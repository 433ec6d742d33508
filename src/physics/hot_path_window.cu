/// The gradient of a chunk in one kernel that keeps every window on the chip from its exit wave to
/// both gradients.

#include "window_gradient_cuda.cuh"

namespace tessera::physics::hot_path {

bool fits_on_chip(int n, int n_modes) {
  return kernels_may_overlap() &&
         (n == 64 || n == 128 ? n_modes >= 1 && n_modes <= 8 : n == 256 && n_modes == 1);
}

bool gradients_fit_on_chip(int n, int n_modes) {
  return fits_on_chip(n, n_modes) || takes_modes_in_turn(n, n_modes);
}

int places_on_chip(int n, int n_modes) {
  return multiprocessors() * windows_at_a_time(n) / (n == 256 ? Slices<256>::blocks : n_modes);
}

void add_gradients_on_chip(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                           Complex* waves) {
  if (chunk.count == 0) return;
  add_coverage(stream, scan, chunk);
  if (takes_modes_in_turn(scan.n, scan.n_modes))
    add_gradients_of_modes_in_turn(stream, scan, chunk, waves);
  else
    with_comparison(scan, [&](auto plain) {
      with_window_kind(scan, LaunchWindows<Gradient::of_residual, plain>{stream, scan, chunk, {}});
    });
  gather_background_slopes(stream, scan, chunk);
}

}  // namespace tessera::physics::hot_path

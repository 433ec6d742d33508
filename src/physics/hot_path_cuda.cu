#include "hot_path_window.cuh"

namespace tessera::physics::hot_path {

bool better_on_chip(const ScanArrays& scan, int count, std::int64_t n_pixels) {
  return gradients_fit_on_chip(scan.n, scan.n_modes) &&
         count >= places_worth_the_chip(scan.n, scan.n_modes) && counts_pixels(n_pixels);
}

bool supports(int n, int n_modes) {
  return n >= 32 && n <= 1024 && (n & (n - 1)) == 0 && n_modes >= 1;
}

int places_worth_the_chip(int n, int n_modes) {
  constexpr int waves_worth_turns = 600;  // decision 0008, as what follows
  if (takes_modes_in_turn(n, n_modes)) return waves_worth_turns / n_modes;
  const int eighths = n == 256 ? 56 : n_modes > 1 ? 8 : n == 64 ? 3 : 5;
  return (eighths * places_on_chip(n, n_modes) + 7) / 8;
}

void add_gradients(void* stream, const ScanArrays& scan, const ChunkArrays& chunk, Complex* waves) {
  if (better_on_chip(scan, chunk.count, chunk.object_width * chunk.object_height))
    return add_gradients_on_chip(stream, scan, chunk, waves);
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

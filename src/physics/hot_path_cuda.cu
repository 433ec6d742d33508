#include "hot_path_window.cuh"

namespace tessera::physics::hot_path {

namespace {

bool gradients_better_on_chip(const ScanArrays& scan, int count, std::int64_t n_pixels) {
  constexpr int waves_worth_turns = 600;  // decision 0008
  if (!takes_modes_in_turn(scan.n, scan.n_modes)) return better_on_chip(scan, count, n_pixels);
  return count * scan.n_modes >= waves_worth_turns && counts_pixels(n_pixels);
}

}  // namespace

bool better_on_chip(const ScanArrays& scan, int count, std::int64_t n_pixels) {
  return fits_on_chip(scan.n, scan.n_modes) &&
         count >= places_worth_the_chip(scan.n, scan.n_modes) && counts_pixels(n_pixels);
}

bool supports(int n, int n_modes) {
  return n >= 32 && n <= 1024 && (n & (n - 1)) == 0 && n_modes >= 1;
}

int places_worth_the_chip(int n, int n_modes) {
  const int eighths = n == 256 ? 56 : n_modes > 1 ? 8 : n == 64 ? 3 : 5;  // decision 0008
  return (eighths * places_on_chip(n, n_modes) + 7) / 8;
}

void add_gradients(void* stream, const ScanArrays& scan, const ChunkArrays& chunk, Complex* waves) {
  if (gradients_better_on_chip(scan, chunk.count, chunk.object_width * chunk.object_height))
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

#include "hot_path.hpp"

namespace tessera::physics::hot_path {

bool supports(int n, int n_modes) {
  return n >= 32 && n <= 1024 && (n & (n - 1)) == 0 && n_modes >= 1;
}

void add_gradients(void* stream, const ScanArrays& scan, const ChunkArrays& chunk, Complex* waves) {
  if (chunk.count == 0) return;
  exit_rows(stream, scan, chunk, waves);
  detector_columns(stream, scan, chunk, waves);
  rows_gradient(stream, scan, chunk, waves);
}

}  // namespace tessera::physics::hot_path

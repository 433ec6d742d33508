/// The gradient in one kernel that shifts the probe which all places share.

#include "shifted_window_cuda.cuh"

namespace tessera::physics::hot_path {

std::int64_t kept_on_chip() {
  return std::int64_t{32} * threads * multiprocessors();
}

void add_gradients_and_shift(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                             const ShiftsOnChip& shifts) {
  launch_shifted<false>(stream, scan, chunk, shifts, {});
}

}  // namespace tessera::physics::hot_path

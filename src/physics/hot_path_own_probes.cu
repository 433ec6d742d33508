/// The gradient in one kernel that mixes and shifts the probe which every place has for itself.

#include "shifted_window_cuda.cuh"

namespace tessera::physics::hot_path {

void add_gradients_of_own_probes(void* stream, const ScanArrays& scan, const ChunkArrays& chunk,
                                 const ShiftsOnChip& shifts, const OwnProbes& own) {
  launch_shifted<true>(stream, scan, chunk, shifts, own);
}

}  // namespace tessera::physics::hot_path

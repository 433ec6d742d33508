#pragma once
/// Dose and overlap of batches whose windows lie densely: fused kernels add those of a whole batch
/// at once, with its first chunk.

#include "tessera/device/device.hpp"
#include "tessera/physics/scan_tile.hpp"
#include "tessera/physics/sizes.hpp"

#include "hot_path.hpp"

namespace tessera::physics {

class DenseCoverage {
 public:
  /// @param sizes of which those of the rank's tile do not matter
  explicit DenseCoverage(const Sizes& sizes);
  static std::int64_t bytes(const Sizes& sizes);

  /// Takes from the sums that `fused`, of `chunk`, wants what is added for the whole batch, and
  /// adds that where the chunk is the batch's first. Its slots' probes are there.
  void take(const device::Device& exec, const hot_path::ScanArrays& scan, const Chunk& chunk,
            hot_path::ChunkArrays& fused) const;

 private:
  bool own_probes_;
  device::DeviceView<int*> places_;
  device::DeviceView<Real*> powers_;
};

}  // namespace tessera::physics

#pragma once
/// Which kernels take a chunk from object and probe to its sums: decided here and nowhere else.

#include "physics/detector.hpp"

namespace tessera::physics {

/// Declared for ForwardModel, which keeps the choice; the passes follow it.
enum class Kernels : int {
  portable,  ///< step by step, on any device, of any model
  fused      ///< those of hot_path.hpp
};

/// Fused on a GPU, in single precision, for square windows of a power of two, in no fixed order,
/// for thin samples in the far field and plain detectors.
Kernels choose_kernels(const ScanTile& scan, const ModelOptions& options, const Detector& detector);

}  // namespace tessera::physics

#include "kernel_choice.hpp"

#include "hot_path.hpp"

namespace tessera::physics {

Kernels choose_kernels(const ScanTile& scan, const ModelOptions& options,
                       const Detector& detector) {
  const bool fuses = detector.is_plain() && options.is_thin_in_far_field() &&
                     !options.correlates_positions && !options.fixed_order &&
                     sizeof(Real) == sizeof(float) && scan.window.h == scan.window.w &&
                     hot_path::supports(scan.window.w, options.n_modes);
  return fuses ? Kernels::fused : Kernels::portable;
}

}  // namespace tessera::physics

#include "kernel_choice.hpp"

#include "hot_path.hpp"
#include "physics/detector.hpp"

namespace tessera::physics {

Kernels choose_kernels(const Sizes& sizes) {
  const ModelOptions& model = sizes.model;
  const bool fuses = Detector::is_plain(sizes) && model.is_thin_in_far_field() &&
                     !model.correlates_positions && !model.fixed_order &&
                     sizeof(Real) == sizeof(float) && sizes.window.h == sizes.window.w &&
                     hot_path::supports(sizes.window.w, model.n_modes);
  return fuses ? Kernels::fused : Kernels::portable;
}

bool keeps_waves_on_chip(const Sizes& sizes) {
  return choose_kernels(sizes) == Kernels::fused &&
         hot_path::fits_on_chip(sizes.window.w, sizes.model.n_modes);
}

}  // namespace tessera::physics

#include "kernel_choice.hpp"

#include "hot_path.hpp"
#include "physics/detector.hpp"

namespace tessera::physics {

namespace {

/// What can be said without a detector.
bool may_fuse(const ModelOptions& model, Shape2 window) {
  return model.is_thin_in_far_field() && !model.correlates_positions && !model.fixed_order &&
         sizeof(Real) == sizeof(float) && window.h == window.w &&
         hot_path::supports(window.w, model.n_modes);
}

}  // namespace

Kernels choose_kernels(const Sizes& sizes) {
  const bool fuses = Detector::is_plain(sizes) && may_fuse(sizes.model, sizes.window);
  return fuses ? Kernels::fused : Kernels::portable;
}

bool keeps_waves_on_chip(const ModelOptions& options, Shape2 window) {
  return may_fuse(options, window) && hot_path::fits_on_chip(window.w, options.n_modes);
}

}  // namespace tessera::physics

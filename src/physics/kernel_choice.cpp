#include "kernel_choice.hpp"

#include <algorithm>

#include "hot_path.hpp"
#include "physics/chip_shifts.hpp"
#include "physics/detector.hpp"

namespace tessera::physics {

namespace {

/// But for slices.
bool may_fuse(const Sizes& sizes) {
  return fuses_shifts(sizes) && Detector::compares_waves(sizes) &&
         !sizes.model.correlates_positions;
}

bool fits_on_chip(const Sizes& sizes) {
  return hot_path::fits_on_chip(sizes.window.w, sizes.model.n_modes);
}

}  // namespace

Kernels choose_kernels(const Sizes& sizes) {
  return may_fuse(sizes) && sizes.model.n_slices == 1 ? Kernels::fused : Kernels::portable;
}

int fewest_divided(Shape2 window, int n_modes, bool on_gpu) {
  if (!on_gpu) return 0;
  constexpr std::int64_t few_px = std::int64_t{1} << 24;
  const auto few = static_cast<int>(few_px / (window.size() * n_modes));
  if (window.w > 256) return few;
  // Two chunks begin and end on the chip twice, and may not have their probes shifted there.
  return std::max(few, window.w == 128 && n_modes == 1 ? 3072 : 768);
}

bool fuses_shifts(const Sizes& sizes) {
  const ModelOptions& model = sizes.model;
  return model.propagation == Propagation::far_field && !model.fixed_order &&
         sizeof(Real) == sizeof(float) && sizes.window.h == sizes.window.w &&
         hot_path::supports(sizes.window.w, model.n_modes);
}

bool fuses_slices(const Sizes& sizes) {
  return may_fuse(sizes) && sizes.model.n_slices > 1;
}

bool keeps_waves_on_chip(const Sizes& sizes) {
  return choose_kernels(sizes) == Kernels::fused && fits_on_chip(sizes);
}

bool keeps_slices_on_chip(const Sizes& sizes) {
  return fuses_slices(sizes) && fits_on_chip(sizes);
}

decomposition::Lanes lanes_on_chip(const Sizes& sizes) {
  if (!keeps_waves_on_chip(sizes)) return {};
  const int n_modes = sizes.model.n_modes;
  return {.count = hot_path::places_on_chip(sizes.window.w, n_modes),
          .most_of_slot = n_modes > 2 ? 1 : 4,  // decision 8
          .shifted_below = ChipShifts::places_worth_a_slot(n_modes, sizes.window.w)};
}

bool keeps_spectra_on_chip(const Sizes& sizes) {
  return choose_kernels(sizes) == Kernels::fused &&
         hot_path::keeps_spectra(sizes.window.w, sizes.model.n_modes);
}

}  // namespace tessera::physics

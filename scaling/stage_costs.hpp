#pragma once
/// What the stages of an epoch must at least move and compute: every array of the size of the
/// waves, the patterns or the object's windows once for each time that the stage touches it; what
/// is of the size of the probe stays in the cache.

#include <cmath>
#include <cstdint>
#include <map>
#include <string>

#include "tessera/device/device.hpp"

namespace tessera::scaling {

struct StageCost {
  double bytes = 0;
  double flops = 0;
};

/// One rank's epoch.
struct EpochLoad {
  double n_positions = 0;
  double n_modes = 1;
  double window_pixels = 0;
  double transforms_per_position = 4;  ///< of one mode
  double pattern_pixel_bytes = 2;
};

/// By the names of kernels and regions; a stage without an entry has no cost worth counting, or one
/// that depends on how many rounds it takes.
inline std::map<std::string, StageCost> stage_costs(const EpochLoad& load) {
  constexpr double real = sizeof(Real);
  constexpr double wave = 2 * real;
  const double pixels = load.n_positions * load.window_pixels;
  const double waves = pixels * load.n_modes;  // wave pixels
  // What lies outside of forward and backward shifts probes there and their gradients back.
  const double n_each_way = load.transforms_per_position / 2;
  const double shifted = waves * (n_each_way - 1);        // pixels of shifted probes
  const double object_sums = 2 * (wave + real) * pixels;  // sum and dose, in and out
  // Cooley & Tukey's count, 5 n log2 n.
  const StageCost transforms{2 * wave * waves * n_each_way,
                             5 * waves * std::log2(load.window_pixels) * n_each_way};
  return {
      {"tessera::fft::forward", transforms},
      {"tessera::fft::inverse", transforms},
      // shifted probe out; spectrum * ramp_y * ramp_x
      {"tessera::physics::shift_spectrum", {wave * shifted, 12 * shifted}},
      // object window and shifted probe in, wave out
      {"tessera::physics::exit_waves", {wave * (pixels + shifted + waves), 8 * waves}},
      // waves in and out, pattern in; |.|^2, factor; roots, four sums
      {"tessera::physics::compare",
       {2 * wave * waves + load.pattern_pixel_bytes * pixels, 6 * waves + 14 * pixels}},
      // waves and shifted probe in
      {"tessera::physics::object_gradient",
       {wave * (waves + shifted) + object_sums, 12 * waves + 5 * pixels}},
      // object window in
      {"tessera::physics::overlap", {wave * pixels, 4 * pixels}},
      // waves and object window in, the slots' sums in and out
      {"tessera::physics::slot_gradient", {wave * (waves + pixels + 2 * shifted), 10 * waves}},
      // rows, columns, rows: waves out, in, out, in; the pattern; object windows twice; the sums
      {"tessera::physics::fused_gradient",
       {wave * (4 * waves + 2 * pixels) + load.pattern_pixel_bytes * pixels + object_sums,
        2 * 5 * waves * std::log2(load.window_pixels) + 36 * waves + 23 * pixels}},
      // three times rows: object windows and shifted probes in, waves out; columns: these and the
      // pattern in; costs at eight points and at none
      {"tessera::physics::fused_costs",
       {3 * wave * (pixels + shifted + 2 * waves) + load.pattern_pixel_bytes * pixels,
        3 * 5 * waves * std::log2(load.window_pixels) + 44 * waves + 100 * pixels}},
      // rows: waves in; object windows and shifted probes, their directions
      {"tessera::physics::fused_products",
       {wave * (waves + 2 * pixels + 2 * shifted),
        2.5 * waves * std::log2(load.window_pixels) + 30 * waves}},
      // rows, columns, columns: object windows, shifted probes in, waves out; these and kept ones
      // in, a factor out; the same in, kept ones out; the pattern
      {"tessera::physics::fused_projection",
       {wave * (pixels + shifted + 6 * waves) + (load.pattern_pixel_bytes + 2 * real) * pixels,
        5 * 2.5 * waves * std::log2(load.window_pixels) + 30 * waves + 30 * pixels}},
      // columns, rows: the shifted probes out, in, out
      {"tessera::physics::fused_shift",
       {3 * wave * shifted, shifted * (5 * std::log2(load.window_pixels) + 12)}},
      // rows, columns: the slots' sums in, out, in, zeros out
      {"tessera::physics::fused_gather",
       {4 * wave * shifted, shifted * (5 * std::log2(load.window_pixels) + 14)}},
      // the slots' sums in, zeros out
      {"tessera::physics::gather_slots", {2 * wave * shifted, 14 * shifted}},
  };
}

}  // namespace tessera::scaling

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

/// By the names of kernels and regions; a stage without an entry has no cost worth counting.
inline std::map<std::string, StageCost> stage_costs(const EpochLoad& load) {
  constexpr double real = sizeof(Real);
  constexpr double wave = 2 * real;
  const double pixels = load.n_positions * load.window_pixels;
  const double m = load.n_modes;
  const double wave_pixels = pixels * m;
  // Cooley & Tukey's count, 5 n log2 n; what lies outside of forward and backward shifts probes.
  const double transform_flops = 5 * wave_pixels * std::log2(load.window_pixels);
  const StageCost transform{2 * wave * wave_pixels, transform_flops};
  const double of_each_direction = load.transforms_per_position / 2;
  const double shifts = wave_pixels * (of_each_direction - 1);
  const StageCost transforms{transform.bytes * of_each_direction,
                             transform.flops * of_each_direction};
  return {
      {"tessera::fft::forward", transforms},
      {"tessera::fft::inverse", transforms},
      // spectrum * ramp_y * ramp_x
      {"tessera::physics::shift_spectrum", {wave * shifts, 12 * shifts}},
      // object window in, shifted probe in, wave out
      {"tessera::physics::exit_waves", {wave * (pixels + shifts + wave_pixels), 8 * wave_pixels}},
      // waves in and out, pattern in; |.|^2, roots, four sums, factor
      {"tessera::physics::amplitude",
       {2 * wave * wave_pixels + load.pattern_pixel_bytes * pixels, 6 * wave_pixels + 14 * pixels}},
      // waves and shifted probe in, object sum and illumination in and out
      {"tessera::physics::object_gradient",
       {wave * (wave_pixels + shifts) + 2 * (wave + real) * pixels, 12 * wave_pixels + 5 * pixels}},
      // waves in and out, object window in
      {"tessera::physics::overlap",
       {2 * wave * wave_pixels + wave * pixels, 8 * wave_pixels + 4 * pixels}},
      // waves in; conj(ramps), sum
      {"tessera::physics::probe_gradient", {wave * wave_pixels, 2 * wave_pixels + 12 * shifts}},
  };
}

}  // namespace tessera::scaling

#pragma once
/// A machine of round numbers, which nobody has.

#include "cost/machine.hpp"

namespace tessera::testing {

inline cost::Machine some_machine() {
  const cost::WindowRates small{.window_px = 64,
                                .position_s = 1e-5,
                                .wave_s = 2e-5,
                                .shift_s = 4e-5,
                                .touched_px_s = 1e-9,
                                .batch_s = 1e-4,
                                .batch_mode_s = 3e-5,
                                .epoch_s = 1e-3,
                                .transform_s = 5e-6,
                                .slowdown = {1, 1.5}};
  const cost::WindowRates large{.window_px = 256,
                                .position_s = 32e-5,
                                .wave_s = 64e-5,
                                .shift_s = 128e-5,
                                .touched_px_s = 3e-9,
                                .batch_s = 2e-4,
                                .batch_mode_s = 96e-5,
                                .epoch_s = 2e-3,
                                .transform_s = 160e-6,
                                .slowdown = {1, 2}};
  return {.name = "none",
          .on_gpu = false,
          .real_bytes = 4,
          .copy_bytes_per_s = 1e10,
          .flops_per_s = 1e11,
          .file_bytes_per_s = 2e9,
          .windows = {small, large},
          .links = {{1}, {4, 1e-5, 1e9, 2e-5, 5e8}},
          .methods = {{"rpie", {}}, {"lsqml", {1.75, 2e-5}}}};
}

}  // namespace tessera::testing

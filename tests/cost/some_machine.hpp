#pragma once
/// A machine of round numbers, which nobody has.

#include "cost/machine.hpp"

namespace tessera::testing {

inline cost::Machine some_machine() {
  const cost::WindowRates small{64, 1e-5, 2e-5, 4e-5, 1e-9, 1e-4, 3e-5, 1e-3, 5e-6, {1, 1.5}};
  const cost::WindowRates large{256, 32e-5, 64e-5, 128e-5, 3e-9, 2e-4, 96e-5, 2e-3, 160e-6, {1, 2}};
  return {.name = "none",
          .on_gpu = false,
          .real_bytes = 4,
          .copy_bytes_per_s = 1e10,
          .flops_per_s = 1e11,
          .file_bytes_per_s = 2e9,
          .windows = {small, large},
          .links = {{1}, {4, 1e-5, 1e9, 2e-5, 5e8}},
          .methods = {{"rpie", 1}, {"lsqml", 1.75}}};
}

}  // namespace tessera::testing

#pragma once
/// How a run computes, whatever it computes.

#include <string>
#include <vector>

#include "settings/key.hpp"

namespace tessera::settings {

struct Computation {
  bool deterministic = false;
  std::string resume;
  bool resume_fitted = true;
  double device_memory_bytes = 0;
  double host_memory_bytes = 0;
  bool share_gpu = false;

  std::vector<Key> keys() {
    return {
        {.name = "deterministic",
         .field = &deterministic,
         .meaning = "Add overlapping patches in a fixed order, so that a run repeats bit for bit. "
                    "Slower; for finding errors and comparing versions."},
        {.name = "resume",
         .field = &resume,
         .meaning =
             "Result of an earlier run to continue, on any number of ranks; empty: start anew.",
         .is_path = true},
        {.name = "resume_fitted",
         .field = &resume_fitted,
         .meaning =
             "What that run has fitted (positions, OPR, intensities, background, slice distances, "
             "tilt) stays in the model, whether `refine` fits it further or not; false: these "
             "begin anew from the scan and the deck."},
        {.name = "device_memory_bytes",
         .field = &device_memory_bytes,
         .meaning =
             "Device memory that a rank may take; 0: what is free at the start, less a "
             "margin. Patterns that do not fit stay in host memory or in the file and stream "
             "through the device.",
         .min = 0,
         .max = 1e18},
        {.name = "host_memory_bytes",
         .field = &host_memory_bytes,
         .meaning =
             "Host memory that a rank may take; 0: its share of nine tenths of what the host "
             "has available.",
         .min = 0,
         .max = 1e18},
        {.name = "share_gpu",
         .field = &share_gpu,
         .meaning = "Let several ranks use one GPU, for trials: slower than one rank for each, and "
                    "not with `nccl` and `gpu_p2p`. Without it fewer GPUs than ranks are an error. "
                    "Nothing to a "
                    "build for hosts."},
    };
  }
};

}  // namespace tessera::settings

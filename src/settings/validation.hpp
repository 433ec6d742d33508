#pragma once
/// Positions that are looked at but never fitted.

#include <cstdint>
#include <string>
#include <vector>

#include "settings/key.hpp"

namespace tessera::settings {

struct Validation {
  double fraction = 0;
  std::uint64_t seed = 1;
  int every_epochs = 1;
  bool halves = false;
  int half = 0;  ///< not a key: which half of the scan a run fits, 1 or 2; 0: the whole

  std::vector<Key> keys() {
    return {
        {.name = "fraction",
         .field = &fraction,
         .meaning = "Fraction of the scan positions that are never fitted. Their error is printed "
                    "beside the fitted one: if it rises while the other falls, noise is being "
                    "fitted. 0.05 is common; 0: none.",
         .min = 0,
         .max = 0.9},
        {.name = "seed",
         .field = &seed,
         .meaning =
             "Seed of the choice of these positions, which is the same on any number of ranks.",
         .min = 0,
         .max = 4294967295.0},
        {.name = "every_epochs",
         .field = &every_epochs,
         .meaning = "Epochs between looks at them. One look costs about fraction / 2 of an epoch.",
         .min = 1,
         .max = 1000000},
        {.name = "halves",
         .field = &halves,
         .meaning = "After the run, reconstruct two halves of the scan apart from one another and "
                    "say up to which frequency they agree: the resolution that the data carry. "
                    "Takes about as long again."},
    };
  }
};

}  // namespace tessera::settings

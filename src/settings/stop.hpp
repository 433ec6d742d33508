#pragma once
/// When a run ends before its last epoch.

#include <string>
#include <vector>

#include "settings/key.hpp"

namespace tessera::settings {

/// A number that is 0 switches its rule off.
struct Stop {
  double time_s = 0;
  double error = 0;
  double plateau_change = 0;
  int plateau_epochs = 5;
  int divergence_epochs = 0;
  double divergence_ratio = 2;
  int validation_epochs = 0;

  std::vector<Key> keys() {
    return {
        {.name = "time_s",
         .field = &time_s,
         .meaning =
             "End the run after the epoch in which this time is over, seconds from its start, "
             "reading included; 0: no limit. Leave room for the writing of the result.",
         .min = 0,
         .max = 1e9},
        {.name = "error",
         .field = &error,
         .meaning = "End the run when the running error of an epoch is not above this; 0: never.",
         .min = 0,
         .max = 1e6},
        {.name = "plateau_change",
         .field = &plateau_change,
         .meaning =
             "End the solver at work, and go on with the next, when r_factor changes by less "
             "than this fraction for `plateau_epochs` epochs in a row; 0: never. 1e-3 to 1e-4 "
             "are common.",
         .min = 0,
         .max = 1},
        {.name = "plateau_epochs",
         .field = &plateau_epochs,
         .meaning = "Epochs in a row that make a plateau.",
         .min = 1,
         .max = 1000000},
        {.name = "divergence_epochs",
         .field = &divergence_epochs,
         .meaning =
             "End the run when r_factor rises in so many epochs in a row; 0: never. The state "
             "is kept as it is. Not below 3: small batches swing.",
         .min = 0,
         .max = 1000000},
        {.name = "divergence_ratio",
         .field = &divergence_ratio,
         .meaning =
             "End the run when the error of three epochs in a row is above this times a solver's "
             "lowest, and above its first, or once constraints have changed intensities the "
             "run's; the state goes back to the best one; 0: never.",
         .min = 0,
         .max = 1e6},
        {.name = "validation_epochs",
         .field = &validation_epochs,
         .meaning =
             "End the run when so many looks in a row at the held-out positions "
             "(`validation.fraction`) have not found a lower error than a solver's lowest; the "
             "state goes back to that; 0: never. 5 to 20 are common.",
         .min = 0,
         .max = 1000000},
    };
  }
};

}  // namespace tessera::settings

#include "sections.hpp"

namespace tessera::deck {

std::vector<Key> stop_keys(Stop& stop) {
  return {
      {.name = "stop.time_s",
       .field = &stop.time_s,
       .meaning = "End the run after the epoch in which this time is over, seconds from its start, "
                  "reading included; 0: no limit. Leave room for the writing of the result.",
       .least = 0,
       .greatest = 1e9},
      {.name = "stop.error",
       .field = &stop.error,
       .meaning = "End the run when the running error of an epoch is not above this; 0: never.",
       .least = 0,
       .greatest = 1e6},
      {.name = "stop.plateau_change",
       .field = &stop.plateau_change,
       .meaning = "End the solver at work, and go on with the next, when r_factor changes by less "
                  "than this fraction for `plateau_epochs` epochs in a row; 0: never. 1e-3 to 1e-4 "
                  "are common.",
       .least = 0,
       .greatest = 1},
      {.name = "stop.plateau_epochs",
       .field = &stop.plateau_epochs,
       .meaning = "Epochs in a row that make a plateau.",
       .least = 1,
       .greatest = 1000000},
      {.name = "stop.divergence_epochs",
       .field = &stop.divergence_epochs,
       .meaning = "End the run when r_factor rises in so many epochs in a row; 0: never. The state "
                  "is kept as it is. Not below 3: small batches swing.",
       .least = 0,
       .greatest = 1000000},
  };
}

std::vector<Key> validation_keys(Validation& validation) {
  return {
      {.name = "validation.fraction",
       .field = &validation.fraction,
       .meaning = "Fraction of the scan positions that are never fitted. Their error is printed "
                  "beside the fitted one: if it rises while the other falls, noise is being "
                  "fitted. 0.05 is common; 0: none.",
       .least = 0,
       .greatest = 0.9},
      {.name = "validation.seed",
       .field = &validation.seed,
       .meaning =
           "Seed of the choice of these positions, which is the same on any number of ranks.",
       .least = 0,
       .greatest = 4294967295.0},
      {.name = "validation.every_epochs",
       .field = &validation.every_epochs,
       .meaning = "Epochs between looks at them. One look costs about fraction / 2 of an epoch.",
       .least = 1,
       .greatest = 1000000},
  };
}

}  // namespace tessera::deck

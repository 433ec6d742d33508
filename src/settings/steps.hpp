#pragma once
/// Settings that several families of methods have.

#include <cmath>
#include <string>
#include <vector>

#include "settings/key.hpp"

namespace tessera::settings {

/// Lengths of the updates.
struct Steps {
  double object = 0.5;
  double probe = 0.5;

  std::vector<Key> keys() {
    return {
        {.name = "object_step",
         .field = &object,
         .meaning = "Length of the object update. Lower it if the error rises or swings; 0 keeps "
                    "the object.",
         .min = 0,
         .max = 2},
        {.name = "probe_step",
         .field = &probe,
         .meaning = "Length of the probe update. 0 keeps the probe.",
         .min = 0,
         .max = 2},
    };
  }
};

/// What bounds an update where little light falls.
struct Alphas {
  double object = 1;
  double probe = 1;

  std::vector<Key> keys() {
    return {
        {.name = "object_alpha",
         .field = &object,
         .meaning =
             "Regularisation of the object update, from near 0 (bold where the probe is weak) to 1 "
             "(ePIE). Lower it for few epochs on clean data.",
         .min = 1e-6,
         .max = 1},
        {.name = "probe_alpha",
         .field = &probe,
         .meaning = "The same for the probe update.",
         .min = 1e-6,
         .max = 1},
    };
  }
};

/// Steps that stay, then shrink: small last steps average the noise that full ones keep chasing.
struct StepSchedule {
  double full_step_fraction = 0.66;
  double final_step = 0.2;

  std::vector<Key> keys() {
    return {
        {.name = "full_step_fraction",
         .field = &full_step_fraction,
         .meaning =
             "Fraction of the epochs with full steps; after it both steps shrink geometrically. "
             "Small last steps average the noise that full ones keep chasing.",
         .min = 0,
         .max = 1},
        {.name = "final_step",
         .field = &final_step,
         .meaning = "What is left of both steps in the last epoch, as a fraction; 1: steps stay.",
         .min = 1e-6,
         .max = 1},
    };
  }

  /// What is left of a step in `epoch` (from 0) of `n_epochs`, as a fraction.
  double fraction(int epoch, int n_epochs) const {
    const auto full_step_epochs = static_cast<int>(std::lround(full_step_fraction * n_epochs));
    const int past = epoch - full_step_epochs + 1;
    const int shrinking = n_epochs - full_step_epochs;
    if (past <= 0 || shrinking <= 0) return 1;
    return std::pow(final_step, static_cast<double>(past) / shrinking);
  }
};

/// @param methods of the family that have momentum; empty: all
inline Key momentum_key(double& momentum, const std::vector<std::string>& methods = {}) {
  return {.name = "momentum",
          .field = &momentum,
          .meaning =
              "The part of an epoch's change of object and probe that the next epoch adds to "
              "its own.",
          .min = 0,
          .max = 0.99,
          .methods = methods};
}

}  // namespace tessera::settings

#pragma once
/// Steps that stay, then shrink: small last steps average the noise that full ones keep chasing.

#include <cmath>

namespace tessera::solvers {

struct StepSchedule {
  int n_epochs = 1;
  int full_step_epochs = 1;  ///< after them steps shrink geometrically ...
  double final_step = 1;     ///< ... to this fraction in the last epoch

  /// What is left of a step in `epoch` (from 0), as a fraction.
  double fraction(int epoch) const {
    const int past = epoch - full_step_epochs + 1;
    const int shrinking = n_epochs - full_step_epochs;
    if (past <= 0 || shrinking <= 0) return 1;
    return std::pow(final_step, static_cast<double>(past) / shrinking);
  }
};

}  // namespace tessera::solvers

#pragma once
/// What is kept of every epoch.

#include <limits>

#include "tessera/physics/noise_model.hpp"

namespace tessera::run {

/// One line of the history: the running figures of an epoch.
struct EpochFigures {
  double error = 0;
  double r_factor = 0;
  int stage = 0;  ///< which of the deck's solvers, from 0
  /// Error of the held-out positions after the epoch; NaN: not measured.
  double validation_error = std::numeric_limits<double>::quiet_NaN();
  physics::Noise noise = physics::Noise::amplitude;  ///< by which the solver compared
};

}  // namespace tessera::run

#pragma once
/// Least-squares maximum likelihood.

#include <vector>

#include "settings/method.hpp"
#include "settings/steps.hpp"

namespace tessera::settings {

struct Lsqml {
  Steps steps = {.object = 0.7, .probe = 0.7};  ///< of the lengths that are solved for
  Alphas alphas = {.object = 0.5};  ///< 1 leaves strong phases unfound, 0.3 follows noise
  /// With few counts full steps for longer make backgrounds of noise.
  StepSchedule schedule = {.full_step_fraction = 0.33};
  double momentum = 0.5;

  static std::vector<Method<Lsqml>> methods() {
    return {{"lsqml",
             "Solves for the length of every step (Odstrcil et al. 2018, Opt. Express 26, 3108).",
             {},
             {},
             4}};
  }

  std::vector<Key> keys() {
    return joined({steps.keys(), alphas.keys(), schedule.keys(), {momentum_key(momentum)}});
  }
};

}  // namespace tessera::settings

#pragma once
/// Adam on object and probe.

#include <vector>

#include "settings/method.hpp"
#include "settings/steps.hpp"

namespace tessera::settings {

struct Adam {
  Steps steps = {.object = 0.01, .probe = 0.005};  ///< of every pixel, whatever its gradient
  StepSchedule schedule = {};
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 2e-3;

  static std::vector<Method<Adam>> methods() {
    return {{"adam", "Gradient steps of batches, scaled by their moments (Kingma & Ba 2015).", {}}};
  }

  std::vector<Key> keys() {
    return joined(
        {steps.keys(),
         schedule.keys(),
         {{.name = "adam_beta1",
           .field = &beta1,
           .meaning = "What is kept of the mean gradient from batch to batch.",
           .min = 0,
           .max = 0.9999},
          {.name = "adam_beta2",
           .field = &beta2,
           .meaning = "What is kept of the mean squared gradient from batch to batch.",
           .min = 0,
           .max = 0.99999},
          {.name = "adam_epsilon",
           .field = &epsilon,
           .meaning = "Gradients below this move a pixel less than a full step; 1 is what a "
                      "position at the probe's peak asks for that is wrong by the whole object.",
           .min = 1e-12,
           .max = 1}}});
  }
};

}  // namespace tessera::settings

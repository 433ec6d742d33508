#pragma once
/// Adam on object and probe.

#include <optional>
#include <vector>

#include "settings/method.hpp"
#include "settings/steps.hpp"

namespace tessera::settings {

struct Adam {
  static constexpr double small_object_step = 0.01;
  static constexpr double large_object_step = 0.02;

  // Of every pixel, whatever its gradient.
  std::optional<double> object_step = {};  ///< unset: the patterns say which of these two
  double probe_step = 0.005;
  StepSchedule schedule = {};
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 2e-3;

  static std::vector<Method<Adam>> methods() {
    return {{"adam", "Gradient steps of batches, scaled by their moments (Kingma & Ba 2015).", {}}};
  }

  std::vector<Key> keys() {
    return joined(
        {{{.name = "object_step",
           .field = &object_step,
           .meaning = "The change of a pixel's transmission by a batch, at most; 0 keeps the "
                      "object. `auto`: 0.01, and 0.02 where the sample changes patterns of whole "
                      "counts much.",
           .min = 0,
           .max = 2,
           .none = "auto"},
          {.name = "probe_step",
           .field = &probe_step,
           .meaning = "The same of the probe, as a fraction of its greatest amplitude. 0 keeps the "
                      "probe.",
           .min = 0,
           .max = 2}},
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

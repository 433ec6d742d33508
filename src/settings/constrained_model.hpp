#pragma once
/// What a constraint may ask of other sections, to say that it does not go with them.

#include "settings/experiment.hpp"
#include "settings/object.hpp"
#include "settings/probe.hpp"

namespace tessera::settings {

struct ConstrainedModel {
  const Experiment& experiment;
  const Probe& probe;
  const Object& object;
};

}  // namespace tessera::settings

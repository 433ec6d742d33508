#pragma once
/// What a constraint may ask of other sections, to say that it does not go with them.

#include "tessera/settings/experiment.hpp"
#include "tessera/settings/object.hpp"
#include "tessera/settings/probe.hpp"

namespace tessera::settings {

struct ConstrainedModel {
  const Experiment& experiment;
  const Probe& probe;
  const Object& object;
};

}  // namespace tessera::settings

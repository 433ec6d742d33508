#pragma once

#include "tessera/base/box.hpp"

namespace tessera::analysis {

/// What turns a reference into an equally good answer:
///   object(r) = scale exp(i (phase + ramp . (r - centre))) reference_object(r - shift)
///   probe(r)  = 1 / scale exp(-i ramp . r) reference_probe(r - shift), each mode with a phase of
/// its own or, with several, unitarily mixed. The centre is pixel (h / 2, w / 2) of the object.
struct Ambiguity {
  double phase_rad = 0;
  Vec2 ramp_rad_per_px;
  double scale = 1;
  Vec2 shift_px;
};

}  // namespace tessera::analysis

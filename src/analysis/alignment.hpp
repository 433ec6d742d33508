#pragma once
/// Ptychography fixes object and probe only up to a few numbers. Find and remove them, so that two
/// reconstructions can be compared.

#include "tessera/base/image_stack.hpp"

#include "optics/illuminated_region.hpp"

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

/// The ambiguity between a reconstruction and a reference. Object and probe are of the same shapes
/// and on the same pixel grid as the reference's; only the numbers of probe modes may differ.
/// A start from the peaks of the cross-correlations, to 1/100 pixel, is polished by a joint
/// least-squares fit of all numbers over `region`. Several slices share one ambiguity.
Ambiguity find_ambiguity(const WaveStack& object, const WaveStack& probe,
                         const WaveStack& reference_object, const WaveStack& reference_probe,
                         const optics::PixelSet& region);

/// The reference moved by the ambiguity's shift, periodically. The reference moves, not what is
/// compared with it: a transform would smear what a reconstruction holds in the dark over all of
/// it.
WaveStack shifted_like(const Ambiguity& ambiguity, const WaveStack& reference);

/// The object without phase, ramp and scale, to be compared with the shifted reference.
WaveStack object_without(const Ambiguity& ambiguity, const WaveStack& object);

/// The probe without ramp and scale; its modes still have their own phases and mixing.
WaveStack probe_without(const Ambiguity& ambiguity, const WaveStack& probe);

/// The modes of `probe`, unitarily mixed to come as near to the reference's as they can (orthogonal
/// Procrustes problem, Schoenemann 1966). Fewer modes are filled up with dark ones.
WaveStack modes_mixed_like(const WaveStack& reference, const WaveStack& probe);

/// ||a - b|| / ||b|| over the region (empty region: over all); missing images count as dark.
double relative_difference(const WaveStack& a, const WaveStack& b,
                           const optics::PixelSet& region = {});

}  // namespace tessera::analysis

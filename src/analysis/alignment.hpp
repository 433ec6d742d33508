#pragma once
/// Ptychography fixes object and probe only up to a few numbers. Find and remove them, so that two
/// reconstructions can be compared.

#include "tessera/base/image_stack.hpp"

#include "ambiguity.hpp"
#include "object_pair.hpp"

namespace tessera::analysis {

/// The ambiguity between a reconstruction's object and a reference's; several slices share one.
/// Probes are of equal shapes, only the numbers of their modes may differ. A start from the peaks
/// of the cross-correlations of some blocks, to 1/100 pixel, is polished by a joint least-squares
/// fit of all numbers over all counted pixels. Collective.
Ambiguity find_ambiguity(const ObjectPair& pair, const WaveStack& probe,
                         const WaveStack& reference_probe);

/// The reference probe moved by the ambiguity's shift, periodically. The reference moves, not what
/// is compared with it: a transform would smear what a reconstruction holds in the dark over all of
/// it.
WaveStack shifted_like(const Ambiguity& ambiguity, const WaveStack& reference);

/// The probe without ramp and scale; its modes still have their own phases and mixing.
WaveStack probe_without(const Ambiguity& ambiguity, const WaveStack& probe);

/// The modes of `probe`, unitarily mixed to come as near to the reference's as they can (orthogonal
/// Procrustes problem, Schoenemann 1966). Fewer modes are filled up with dark ones.
WaveStack modes_mixed_like(const WaveStack& reference, const WaveStack& probe);

/// ||a - b|| / ||b||; missing modes count as dark.
double relative_difference(const WaveStack& a, const WaveStack& b);

}  // namespace tessera::analysis

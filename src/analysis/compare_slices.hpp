#pragma once
/// The slices of two thick objects, one by one.

#include "analysis/compare.hpp"

namespace tessera::analysis {

/// Every slice of `object` against that of `reference`, which the ambiguity of the whole has been
/// removed from: each slice may still have a phase, ramp, scale and shift of its own.
/// @param probe of the reference
std::vector<SliceComparison> compare_slices(const WaveStack& object, const WaveStack& reference,
                                            const WaveStack& probe, const optics::PixelSet& region);

}  // namespace tessera::analysis

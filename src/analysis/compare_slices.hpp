#pragma once
/// The slices of two thick objects, one by one.

#include "analysis/compare.hpp"

namespace tessera::analysis {

/// Every slice of a against that of b, once the ambiguity of the whole has been removed: each slice
/// may still have a phase, ramp, scale and shift of its own. Collective.
/// @param probe of the reference
std::vector<SliceComparison> compare_slices(const ObjectPair& pair, const WaveStack& probe);

}  // namespace tessera::analysis

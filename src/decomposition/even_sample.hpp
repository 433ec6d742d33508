#pragma once
/// Some positions of every batch that stand for all of it: means over them are means over all.

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/base/box.hpp"
#include "tessera/decomposition/batch_schedule.hpp"

namespace tessera::decomposition {

/// Positions of a batch for each of a sample, at most.
inline constexpr int thinnest_sample = 16;

/// By scan position, true: in the sample. Of every batch every k-th position, k as large as leaves
/// `fewest` of them, at most `thinnest_sample`; of neighbours one, so that the sample covers the
/// scan as evenly as the batch does. Empty where that is all, and of random batches, whose share
/// would be left to chance. The same on any number of ranks.
/// @param corner window corners of all scan positions
std::vector<bool> even_sample(const BatchSchedule& schedule, std::span<const Pixel> corner,
                              int fewest, std::uint64_t seed);

}  // namespace tessera::decomposition

#pragma once
/// Some positions that stand for all: their sums are a share of all sums.

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/base/box.hpp"

namespace tessera::decomposition {

/// Positions for each of a sample, at most.
inline constexpr int thinnest_sample = 16;

/// By scan position, true: in the sample. Every k-th of `positions`, k as large as leaves 128 of
/// them, at most `thinnest_sample`; of neighbours one, so that the sample covers the scan as evenly
/// as all do. Empty where that is all. The same on any number of ranks.
/// @param positions scan positions that take part, ascending
/// @param corner window corners of all scan positions
std::vector<bool> even_sample(const std::vector<int>& positions, std::span<const Pixel> corner,
                              std::uint64_t seed);

}  // namespace tessera::decomposition

#pragma once
/// How many columns a raster has whose file does not say it.

#include <optional>

#include "raster_sample.hpp"

namespace tessera::analysis {

/// Patterns are alike one row later: counts and centres of mass of patterns in the order of the
/// scan are correlated with themselves.
/// @param line patterns that follow one another: a raster of one row
/// @return that divisor of `n_positions` at which the correlation stands out; nothing if none does
std::optional<int> find_raster_columns(const RasterSample& line, int n_positions);

}  // namespace tessera::analysis

#pragma once
/// How many positions make a batch. From the scan alone: the same on any number of ranks.

#include <cstdint>
#include <span>

#include "tessera/base/box.hpp"
#include "tessera/decomposition/batch_schedule.hpp"
#include "tessera/decomposition/tiles.hpp"

namespace tessera::decomposition {

/// Pixels that one window or more hold.
/// @param corner window corners of all scan positions
std::int64_t covered_pixels(std::span<const Pixel> corner, Shape2 window);

/// The same in windows that lie side by side: a batch of n positions covers the scan n over these
/// times.
double covered_windows(std::span<const Pixel> corner, Shape2 window);

/// The fewest positions that cover `covered_windows` that often; at least 1, at most all.
int batch_size_of(double coverage, double covered_windows, int n_positions);

/// Of the ranks that have any of the schedule's positions, the part that has none in a batch: the
/// mean over the batches of its epoch.
/// @param corner of all scan positions when the tiles were cut
double idle_share(const BatchSchedule& schedule, const Tiling& tiling,
                  std::span<const Pixel> corner);

}  // namespace tessera::decomposition

#pragma once
/// The scan as a file stores it: which scan positions share a chunk, and who reads which chunks.
/// Patterns of (position, y, x) are a scan of one column.

#include <algorithm>
#include <span>
#include <vector>

#include "tessera/base/box.hpp"

namespace tessera::io {

/// Rows and columns of scan positions; patterns without a raster are one column.
inline Shape2 scan_shape(int n_positions, const std::vector<int>& raster) {
  return raster.empty() ? Shape2{n_positions, 1} : Shape2{raster[0], raster[1]};
}

/// Chunks [begin, end) of the scan, row by row.
struct FileChunks {
  int begin = 0;
  int end = 0;
};

struct ScanChunks {
  Shape2 scan;       ///< rows and columns of scan positions
  Shape2 per_chunk;  ///< scan positions in one chunk; the last ones may be cut off

  int rows() const { return (scan.h + per_chunk.h - 1) / per_chunk.h; }
  int columns() const { return (scan.w + per_chunk.w - 1) / per_chunk.w; }
  int count() const { return rows() * columns(); }

  /// Rank `rank`'s contiguous share of all chunks.
  FileChunks share(int rank, int n_ranks) const;
  /// The part of a share that is read in round `round`, `per_round` chunks at a time.
  static FileChunks piece(FileChunks share, int round, int per_round);
  /// The scan positions of `range` as at most three boxes: a row's rest, whole rows, a row's start.
  std::vector<Box> boxes(FileChunks range) const;
  /// Up to `max_positions`, spread evenly over the scan: single ones, or up to 16 that share a
  /// chunk, since that is decoded as a whole.
  /// @param fewest_groups if there are as many positions
  std::vector<Box> spread(int max_positions, int fewest_groups) const;
};

/// Calls `visit(position)` for the flattened positions of `boxes`, in the order of a hyperslab
/// read.
template <class Visit>
void for_each_position(std::span<const Box> boxes, Shape2 scan, Visit&& visit) {
  for (const Box& box : boxes)
    for (int y = box.begin.y; y < box.end.y; ++y)
      for (int x = box.begin.x; x < box.end.x; ++x) visit(y * scan.w + x);
}

}  // namespace tessera::io

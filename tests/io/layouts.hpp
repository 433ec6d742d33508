#pragma once
/// Ways in which a scan of patterns of 5 x 6 pixels is stored.

#include "io/scan_file.hpp"

namespace tessera::io::testing {

struct Layout {
  const char* name;
  Sizes scan;   ///< (n) or (rows, columns)
  Sizes chunk;  ///< all axes; empty: contiguous
  int deflate;
};

inline const std::vector<Layout> layouts{
    {"contiguous_3d", {37}, {}, 0},
    {"deflated_3d", {37}, {4, 5, 6}, 4},
    {"chunks_cut_the_pattern", {37}, {3, 2, 6}, 1},
    {"contiguous_4d", {7, 5}, {}, 0},
    {"deflated_4d", {7, 9}, {2, 4, 5, 6}, 4},
    {"one_chunk_4d", {4, 4}, {4, 4, 5, 6}, 1},
};

}  // namespace tessera::io::testing

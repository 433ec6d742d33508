#pragma once
/// The pixels that any of some windows holds, as disjoint rectangles.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tessera/base/box.hpp"

namespace tessera::decomposition {

/// Keeps the room that it needs, so that it allocates once.
class WindowUnion {
 public:
  /// @param max_windows of one call
  explicit WindowUnion(std::size_t max_windows);

  /// Appends to `rectangles` disjoint ones that together hold the pixels of `windows`. They depend
  /// on the windows and on `bounds` alone, not on the order of the windows.
  /// @param windows windows of one shape, each cut to `bounds` and not empty; become sorted
  void append(std::span<Box> windows, const Box& bounds, std::vector<Box>& rectangles);

  /// Of its own lists.
  std::int64_t bytes() const {
    return static_cast<std::int64_t>(cuts_.capacity() * sizeof(int) +
                                     extents_.capacity() * sizeof(extents_[0]));
  }

  /// Most rectangles of `n_unions` that have `n` windows of this shape together.
  static std::int64_t max_rectangles(Shape2 window, const Box& bounds, std::int64_t n,
                                     std::int64_t n_unions = 1);

 private:
  using Axis = int Pixel::*;
  void append_slab(std::span<const Box> windows, int begin, int end, Axis along, Axis across,
                   std::vector<Box>& rectangles);

  std::vector<int> cuts_;                     ///< where windows begin and end
  std::vector<std::pair<int, int>> extents_;  ///< of the windows of a slab, across
};

}  // namespace tessera::decomposition

#pragma once
/// Scan positions in two halves, along y or x: what tiles and batches of neighbours are made by.

#include <limits>
#include <span>
#include <tuple>
#include <vector>

#include "tessera/base/box.hpp"

namespace tessera::decomposition {

/// Where positions are cut: by their window corners along an axis, equal ones along the other, then
/// by their numbers.
struct PositionCut {
  bool along_y = true;
  Pixel corner;      ///< of the first position beyond the cut
  int position = 0;  ///< its number

  bool is_before(Pixel other, int number) const {
    return along_y
               ? std::tuple(other.y, other.x, number) < std::tuple(corner.y, corner.x, position)
               : std::tuple(other.x, other.y, number) < std::tuple(corner.x, corner.y, position);
  }
};

/// Takes time in proportion to the positions, and 8 bytes for each of the largest call.
class PositionSplit {
 public:
  /// The first `n_first` in the cut's order move to the front; both sides stay ascending.
  /// @param positions ascending
  /// @param corner of all scan positions
  PositionCut split(std::span<int> positions, std::size_t n_first, std::span<const Pixel> corner,
                    bool along_y);

 private:
  PositionCut cut(std::span<const int> positions, std::size_t n_first,
                  std::span<const Pixel> corner, bool along_y);

  std::vector<int> values_;
  std::vector<int> second_;
};

}  // namespace tessera::decomposition

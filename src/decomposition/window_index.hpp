#pragma once
/// Which windows of a scan reach a box, without a look at all of them.

#include <span>
#include <vector>

#include "tessera/base/box.hpp"

namespace tessera::decomposition {

/// Positions in cells about as large as their windows: 4 bytes for each.
class WindowIndex {
 public:
  /// @param corner of all windows; lives as long as this
  WindowIndex(std::span<const Pixel> corner, Shape2 window);

  /// Positions whose windows reach `box`, ascending.
  std::vector<int> reaching(const Box& box) const;

 private:
  Pixel cell_of(Pixel corner) const;
  std::size_t number_of(Pixel cell) const;

  std::span<const Pixel> corner_;
  Shape2 window_;
  Pixel first_;  ///< corner of all
  Shape2 cell_{1, 1};
  Shape2 n_cells_;
  std::vector<int> begin_;      ///< of each cell in positions_, and the end
  std::vector<int> positions_;  ///< of cell 0, of cell 1, ...
};

}  // namespace tessera::decomposition

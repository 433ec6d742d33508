#pragma once
/// Which part of a tile a batch touches. A batch of few positions must not cost a pass over the
/// whole tile.

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/base/box.hpp"

namespace tessera::decomposition {

/// A tile's ghosted box cut into blocks, numbered in row-major order; those at its end may be cut.
struct BlockGrid {
  static constexpr Shape2 block{16, 64};
  Shape2 tile;

  constexpr int rows() const { return (tile.h + block.h - 1) / block.h; }
  constexpr int columns() const { return (tile.w + block.w - 1) / block.w; }
  constexpr int size() const { return rows() * columns(); }
};

/// The blocks that hold a pixel of any window of a batch, whichever rank computes it: neighbours'
/// sums arrive there too. Pure.
class TouchedBlocks {
 public:
  /// @param ghosted the rank's ghosted box, in object pixels
  /// @param corner window corners, in object pixels
  TouchedBlocks(const Box& ghosted, Shape2 window, std::span<const Pixel> corner);

  /// Makes the room for `blocks` as large as this, unless it is full already.
  void reserve(std::size_t n_blocks);
  void clear() { blocks_.clear(); }
  /// Appends the blocks that some of the windows touch, each once. Returns how many.
  /// @param windows their numbers in `corner`
  int add_batch(std::span<const int> windows);
  /// Of all batches since `clear`, one after another.
  std::span<const int> blocks() const { return blocks_; }
  /// Of its own lists, host memory.
  std::int64_t bytes() const;

 private:
  Box ghosted_;
  Shape2 window_;
  BlockGrid grid_;
  std::vector<Pixel> corner_;
  std::vector<int> blocks_;
  std::vector<std::int64_t> last_batch_;  ///< that touched a block
  std::int64_t batch_ = 0;
};

}  // namespace tessera::decomposition

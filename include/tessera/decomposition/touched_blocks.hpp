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
/// sums arrive there too. Pure; room for the worst case is reserved once.
class TouchedBlocks {
 public:
  /// @param ghosted the rank's ghosted box, in object pixels
  /// @param corner window corners of all scan positions, in object pixels
  /// @param n_batches batches between two calls of `clear`, at most
  /// @param batch_size positions in one of them, at most
  TouchedBlocks(const Box& ghosted, Shape2 window, std::span<const Pixel> corner, int n_batches,
                int batch_size);

  /// Most blocks that `blocks` of such a one will ever hold.
  static std::int64_t capacity(Shape2 ghosted, Shape2 window, int n_batches, int batch_size);

  void clear() { blocks_.clear(); }
  /// Appends the blocks that the windows of `positions` (scan positions) touch, each once. Returns
  /// how many. Allocates nothing.
  int add_batch(std::span<const int> positions);
  /// Of all batches since `clear`, one after another.
  std::span<const int> blocks() const { return blocks_; }
  /// Most blocks that `blocks` will ever hold.
  std::size_t capacity() const { return blocks_.capacity(); }

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

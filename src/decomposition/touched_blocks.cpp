#include "tessera/decomposition/touched_blocks.hpp"

#include <algorithm>

namespace tessera::decomposition {

TouchedBlocks::TouchedBlocks(const Box& ghosted, Shape2 window, std::span<const Pixel> corner,
                             int n_batches, int batch_size)
    : ghosted_(ghosted),
      window_(window),
      grid_{ghosted.shape()},
      corner_(corner.begin(), corner.end()),
      last_batch_(static_cast<std::size_t>(grid_.size()), -1) {
  blocks_.reserve(
      static_cast<std::size_t>(capacity(ghosted.shape(), window, n_batches, batch_size)));
}

std::int64_t TouchedBlocks::capacity(Shape2 ghosted, Shape2 window, int n_batches, int batch_size) {
  // n pixels reach into at most (n - 2) / b + 2 blocks of b pixels.
  const auto reached = [](int n, int b) { return (n + b - 2) / b + 1; };
  const std::int64_t of_window = static_cast<std::int64_t>(reached(window.h, BlockGrid::block.h)) *
                                 reached(window.w, BlockGrid::block.w);
  return n_batches * std::min<std::int64_t>(BlockGrid{ghosted}.size(), batch_size * of_window);
}

int TouchedBlocks::add_batch(std::span<const int> positions) {
  const std::size_t before = blocks_.size();
  ++batch_;
  for (const int position : positions) {
    const Box window = intersection(Box::at(corner_[position], window_), ghosted_);
    if (window.empty()) continue;
    const int last_row = (window.end.y - 1 - ghosted_.begin.y) / BlockGrid::block.h;
    const int last_column = (window.end.x - 1 - ghosted_.begin.x) / BlockGrid::block.w;
    for (int row = (window.begin.y - ghosted_.begin.y) / BlockGrid::block.h; row <= last_row; ++row)
      for (int column = (window.begin.x - ghosted_.begin.x) / BlockGrid::block.w;
           column <= last_column; ++column) {
        const int block = row * grid_.columns() + column;
        if (last_batch_[block] == batch_) continue;
        last_batch_[block] = batch_;
        blocks_.push_back(block);
      }
  }
  return static_cast<int>(blocks_.size() - before);
}

}  // namespace tessera::decomposition

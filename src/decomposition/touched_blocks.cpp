#include "tessera/decomposition/touched_blocks.hpp"

#include <algorithm>

namespace tessera::decomposition {

TouchedBlocks::TouchedBlocks(const Box& ghosted, Shape2 window, std::span<const Pixel> corner)
    : ghosted_(ghosted),
      window_(window),
      grid_{ghosted.shape()},
      corner_(corner.begin(), corner.end()),
      last_batch_(static_cast<std::size_t>(grid_.size()), -1) {}

void TouchedBlocks::reserve(std::size_t n_blocks) {
  blocks_.shrink_to_fit();
  blocks_.reserve(n_blocks);
}

std::int64_t TouchedBlocks::bytes() const {
  return static_cast<std::int64_t>(corner_.size() * sizeof(Pixel) +
                                   blocks_.capacity() * sizeof(int) +
                                   last_batch_.size() * sizeof(std::int64_t));
}

int TouchedBlocks::add_batch(std::span<const int> windows) {
  const std::size_t before = blocks_.size();
  ++batch_;
  for (const int number : windows) {
    const Box window = intersection(Box::at(corner_[number], window_), ghosted_);
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

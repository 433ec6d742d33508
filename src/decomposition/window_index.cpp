#include "decomposition/window_index.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tessera::decomposition {

WindowIndex::WindowIndex(std::span<const Pixel> corner, Shape2 window)
    : corner_(corner), window_(window) {
  if (corner.empty()) return;
  Pixel last = corner.front();
  first_ = last;
  for (const auto& [y, x] : corner) {
    first_ = {std::min(first_.y, y), std::min(first_.x, x)};
    last = {std::max(last.y, y), std::max(last.x, x)};
  }
  // No more cells than windows, however small these are in however wide a scan.
  const double extent = std::max(last.y - first_.y, last.x - first_.x) + 1.0;
  const int min = static_cast<int>(extent / std::sqrt(static_cast<double>(corner.size()))) + 1;
  cell_ = {std::max(window.h, min), std::max(window.w, min)};
  const Pixel end = cell_of(last);
  n_cells_ = {end.y + 1, end.x + 1};
  begin_.assign(static_cast<std::size_t>(n_cells_.size()) + 1, 0);
  for (const Pixel at : corner) ++begin_[number_of(cell_of(at)) + 1];
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  std::vector<int> next(begin_);
  positions_.resize(corner.size());
  for (std::size_t i = 0; i < corner.size(); ++i)
    positions_[static_cast<std::size_t>(next[number_of(cell_of(corner[i]))]++)] =
        static_cast<int>(i);
}

std::vector<int> WindowIndex::reaching(const Box& box) const {
  std::vector<int> found;
  if (box.empty() || positions_.empty()) return found;
  // Corners of windows that reach the box lie in it, or less than a window before it.
  const Pixel reach{window_.h - 1, window_.w - 1};
  const auto cell_from = [&](int offset, int cell, int n) {
    return std::clamp(offset < 0 ? 0 : offset / cell, 0, n - 1);
  };
  const Pixel begin = box.begin - reach - first_;
  const Pixel end = box.end - Pixel{1, 1} - first_;
  for (int y = cell_from(begin.y, cell_.h, n_cells_.h); y <= cell_from(end.y, cell_.h, n_cells_.h);
       ++y)
    for (int x = cell_from(begin.x, cell_.w, n_cells_.w);
         x <= cell_from(end.x, cell_.w, n_cells_.w); ++x) {
      const std::size_t cell = number_of({y, x});
      for (int i = begin_[cell]; i < begin_[cell + 1]; ++i) {
        const int position = positions_[static_cast<std::size_t>(i)];
        const Box window = Box::at(corner_[static_cast<std::size_t>(position)], window_);
        if (!intersection(window, box).empty()) found.push_back(position);
      }
    }
  std::ranges::sort(found);
  return found;
}

Pixel WindowIndex::cell_of(Pixel corner) const {
  return {(corner.y - first_.y) / cell_.h, (corner.x - first_.x) / cell_.w};
}

std::size_t WindowIndex::number_of(Pixel cell) const {
  return static_cast<std::size_t>(cell.y) * static_cast<std::size_t>(n_cells_.w) +
         static_cast<std::size_t>(cell.x);
}

}  // namespace tessera::decomposition

#include "tessera/decomposition/position_split.hpp"

#include <algorithm>

namespace tessera::decomposition {
namespace {

using Axis = int Pixel::*;

/// The n-th smallest value; n becomes its number among those that equal it.
int select(std::span<int> values, std::size_t& n) {
  const auto nth = values.begin() + static_cast<std::ptrdiff_t>(n);
  std::nth_element(values.begin(), nth, values.end());
  const int value = *nth;
  n -= static_cast<std::size_t>(
      std::count_if(values.begin(), nth, [value](int v) { return v < value; }));
  return value;
}

}  // namespace

/// The key of number `n_first`, one axis after the other.
PositionCut PositionSplit::cut(std::span<const int> positions, std::size_t n_first,
                               std::span<const Pixel> corner, bool along_y) {
  const Axis along = along_y ? &Pixel::y : &Pixel::x;
  const Axis across = along_y ? &Pixel::x : &Pixel::y;
  PositionCut cut{along_y, {}, 0};
  if (n_first == positions.size()) {
    constexpr int max = std::numeric_limits<int>::max();
    return {along_y, {max, max}, max};
  }
  std::size_t n = n_first;
  values_.clear();
  for (const int i : positions) values_.push_back(corner[i].*along);
  cut.corner.*along = select(values_, n);
  values_.clear();
  for (const int i : positions)
    if (corner[i].*along == cut.corner.*along) values_.push_back(corner[i].*across);
  cut.corner.*across = select(values_, n);
  for (const int i : positions)
    if (corner[i] == cut.corner && n-- == 0) {
      cut.position = i;
      break;
    }
  return cut;
}

PositionCut PositionSplit::split(std::span<int> positions, std::size_t n_first,
                                 std::span<const Pixel> corner, bool along_y) {
  values_.reserve(positions.size());
  const PositionCut found = cut(positions, n_first, corner, along_y);
  second_.resize(std::max(second_.size(), positions.size()));
  std::size_t first = 0;
  std::size_t second = 0;
  // Written to both sides, because a processor would guess wrongly at every other position.
  for (const int i : positions) {
    const bool is_first = found.is_before(corner[i], i);
    second_[second] = i;
    positions[first] = i;
    first += is_first;
    second += !is_first;
  }
  std::copy_n(second_.begin(), second, positions.begin() + static_cast<std::ptrdiff_t>(first));
  return found;
}

}  // namespace tessera::decomposition

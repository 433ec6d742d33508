#include "decomposition/batch_size.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace tessera::decomposition {
namespace {

/// Columns that the windows of one row of pixels hold. All begin in [0, width).
class CoveredColumns {
 public:
  CoveredColumns(int width, int window_w)
      : window_w_(window_w),
        n_begin_(static_cast<std::size_t>(width)),
        begins_(static_cast<std::size_t>(width) / 64 + 1) {}

  void add(int x) {
    if (n_begin_[x]++ > 0) return;
    count_ += held_alone(x);
    begins_[x / 64] |= bit(x);
  }
  void remove(int x) {
    if (--n_begin_[x] > 0) return;
    begins_[x / 64] &= ~bit(x);
    count_ += -held_alone(x);
  }
  std::int64_t count() const { return count_; }

 private:
  static std::uint64_t bit(int x) { return std::uint64_t{1} << (x % 64); }

  /// Columns that a window at `x` holds and none of the others does.
  int held_alone(int x) const {
    return std::max(0, std::min(x + window_w_, next(x)) - std::max(x, previous(x) + window_w_));
  }
  /// Where the next window begins, or further than this one reaches.
  int next(int x) const {
    const int end = std::min((x + window_w_) / 64 + 1, static_cast<int>(begins_.size()));
    std::uint64_t word = begins_[x / 64] & ~(bit(x) | (bit(x) - 1));
    for (int i = x / 64; i < end;) {
      if (word != 0) return 64 * i + std::countr_zero(word);
      if (++i < end) word = begins_[i];
    }
    return x + window_w_;
  }
  int previous(int x) const {
    const int first = std::max(0, x - window_w_) / 64;
    std::uint64_t word = begins_[x / 64] & (bit(x) - 1);
    for (int i = x / 64; i >= first;) {
      if (word != 0) return 64 * i + 63 - std::countl_zero(word);
      if (--i >= first) word = begins_[i];
    }
    return x - window_w_;
  }

  int window_w_;
  std::vector<int> n_begin_;           ///< windows that begin in a column
  std::vector<std::uint64_t> begins_;  ///< a bit for each column: any does
  std::int64_t count_ = 0;
};

/// Columns where windows begin, row by row, from the first of both.
struct WindowRows {
  explicit WindowRows(std::span<const Pixel> corner) {
    Pixel min = corner.front();
    Pixel max = min;
    for (const Pixel& at : corner) {
      min = {std::min(min.y, at.y), std::min(min.x, at.x)};
      max = {std::max(max.y, at.y), std::max(max.x, at.x)};
    }
    width = max.x - min.x + 1;
    row_begin.assign(static_cast<std::size_t>(max.y - min.y) + 2, 0);
    for (const Pixel& at : corner) ++row_begin[at.y - min.y + 1];
    std::partial_sum(row_begin.begin(), row_begin.end(), row_begin.begin());
    std::vector<int> next(row_begin);
    columns.resize(corner.size());
    for (const Pixel& at : corner) columns[next[at.y - min.y]++] = at.x - min.x;
  }
  int height() const { return static_cast<int>(row_begin.size()) - 1; }
  std::span<const int> row(int y) const {
    return std::span(columns).subspan(row_begin[y], row_begin[y + 1] - row_begin[y]);
  }

  int width = 0;
  std::vector<int> row_begin;
  std::vector<int> columns;
};

}  // namespace

/// Downwards, row by row.
std::int64_t covered_pixels(std::span<const Pixel> corner, Shape2 window) {
  if (corner.empty()) return 0;
  const WindowRows rows(corner);
  CoveredColumns columns(rows.width, window.w);
  std::int64_t n_pixels = 0;
  for (int y = 0; y < rows.height() + window.h; ++y) {
    if (y < rows.height())
      for (const int x : rows.row(y)) columns.add(x);
    if (y >= window.h)
      for (const int x : rows.row(y - window.h)) columns.remove(x);
    n_pixels += columns.count();
  }
  return n_pixels;
}

double covered_windows(std::span<const Pixel> corner, Shape2 window) {
  return static_cast<double>(covered_pixels(corner, window)) / static_cast<double>(window.size());
}

int batch_size_of(double coverage, double covered_windows, int n_positions) {
  return static_cast<int>(
      std::clamp(std::ceil(coverage * covered_windows), 1.0, static_cast<double>(n_positions)));
}

double idle_share(const BatchSchedule& schedule, const Tiling& tiling,
                  std::span<const Pixel> corner) {
  const int n_batches = schedule.n_batches();
  std::vector<int> n_batches_of(tiling.tiles.size());
  std::vector<int> last_batch(tiling.tiles.size(), -1);
  for (int batch = 0; batch < n_batches; ++batch)
    for (const int position : schedule.batch(batch)) {
      const auto tile = static_cast<std::size_t>(tiling.tile_of(position, corner[position]));
      if (std::exchange(last_batch[tile], batch) != batch) ++n_batches_of[tile];
    }
  std::int64_t n_idle = 0;
  std::int64_t n_shares = 0;
  for (const int n : n_batches_of) {
    if (n == 0) continue;
    n_shares += n_batches;
    n_idle += n_batches - n;
  }
  return n_shares == 0 ? 0 : static_cast<double>(n_idle) / static_cast<double>(n_shares);
}

}  // namespace tessera::decomposition

#include "tessera/decomposition/batch_size.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

namespace tessera::decomposition {
namespace {

/// Columns that the windows of one row of pixels hold.
class CoveredColumns {
 public:
  explicit CoveredColumns(int window_w) : window_w_(window_w) {}

  void add(int x) { count_ += beside(begins_.insert(x)); }
  void remove(int x) {
    const auto at = begins_.find(x);
    count_ -= beside(at);
    begins_.erase(at);
  }
  std::int64_t count() const { return count_; }

 private:
  /// Columns that the window at `at` alone holds.
  int beside(std::multiset<int>::const_iterator at) const {
    const auto next = std::next(at);
    int begin = *at;
    int end = *at + window_w_;
    if (at != begins_.begin()) begin = std::max(begin, *std::prev(at) + window_w_);
    if (next != begins_.end()) end = std::min(end, *next);
    return std::max(0, end - begin);
  }

  int window_w_;
  std::multiset<int> begins_;
  std::int64_t count_ = 0;
};

}  // namespace

/// Downwards, from each row at which a window begins or ends to the next.
std::int64_t covered_pixels(std::span<const Pixel> corner, Shape2 window) {
  struct Edge {
    int y;
    int x;
    bool begins;
  };
  std::vector<Edge> edges;
  edges.reserve(2 * corner.size());
  for (const auto& [y, x] : corner) {
    edges.push_back({y, x, true});
    edges.push_back({y + window.h, x, false});
  }
  std::ranges::sort(edges, {}, &Edge::y);
  CoveredColumns columns(window.w);
  std::int64_t n_pixels = 0;
  int row = 0;
  for (const Edge& edge : edges) {
    n_pixels += columns.count() * (edge.y - row);
    row = edge.y;
    edge.begins ? columns.add(edge.x) : columns.remove(edge.x);
  }
  return n_pixels;
}

double batch_coverage(int batch_size, std::span<const Pixel> corner, Shape2 window) {
  return static_cast<double>(batch_size) * static_cast<double>(window.size()) /
         static_cast<double>(covered_pixels(corner, window));
}

int batch_size_of(double coverage, std::span<const Pixel> corner, Shape2 window) {
  const double n_windows = coverage * static_cast<double>(covered_pixels(corner, window)) /
                           static_cast<double>(window.size());
  return static_cast<int>(
      std::clamp(std::ceil(n_windows), 1.0, static_cast<double>(corner.size())));
}

double idle_share(const BatchSchedule& schedule, const Tiling& tiling) {
  const std::vector<int> tile_of = tile_of_positions(tiling);
  const int n_batches = schedule.n_batches();
  std::vector<int> n_batches_of(tiling.tiles.size());
  std::vector<int> last_batch(tiling.tiles.size(), -1);
  for (int batch = 0; batch < n_batches; ++batch)
    for (const int position : schedule.batch(batch)) {
      const auto tile = static_cast<std::size_t>(tile_of[static_cast<std::size_t>(position)]);
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

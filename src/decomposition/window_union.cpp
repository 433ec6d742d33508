#include "tessera/decomposition/window_union.hpp"

#include <algorithm>
#include <tuple>

namespace tessera::decomposition {
namespace {

using Axis = int Pixel::*;

/// Slabs lie one after another along the longer side: across it few windows lie side by side.
std::pair<Axis, Axis> along_and_across(const Box& bounds) {
  if (bounds.height() >= bounds.width()) return {&Pixel::y, &Pixel::x};
  return {&Pixel::x, &Pixel::y};
}

/// Where slab [first, middle) has the same extents as [middle, end) and ends where that begins,
/// the two are one.
bool continues(std::span<const Box> before, std::span<const Box> slab, Axis along, Axis across) {
  return std::ranges::equal(before, slab, [&](const Box& a, const Box& b) {
    return a.end.*along == b.begin.*along && a.begin.*across == b.begin.*across &&
           a.end.*across == b.end.*across;
  });
}

/// Drops windows that lie in a larger one, for as long as that halves them: those that are cut to a
/// box smaller than they are.
std::span<Box> without_contained(std::span<Box> windows) {
  for (std::size_t n_kept = 0; n_kept + 1 < windows.size(); ++n_kept) {
    const std::span<Box> rest = windows.subspan(n_kept);
    std::swap(rest[0], *std::ranges::max_element(rest, {}, &Box::area));
    const auto contained = std::ranges::remove_if(
        rest.subspan(1), [&](const Box& window) { return rest[0].contains(window); });
    windows = windows.first(windows.size() - contained.size());
    if (2 * contained.size() < rest.size()) break;
  }
  return windows;
}

}  // namespace

WindowUnion::WindowUnion(std::size_t max_windows) {
  cuts_.reserve(2 * max_windows);
  extents_.reserve(max_windows);
}

std::int64_t WindowUnion::max_rectangles(Shape2 window, const Box& bounds, std::int64_t n,
                                         std::int64_t n_unions) {
  const bool along_y = bounds.height() >= bounds.width();
  const std::int64_t length = along_y ? bounds.height() : bounds.width();
  const int width = along_y ? bounds.width() : bounds.height();
  // Of those side by side all but the first and the last are whole, with a pixel between them.
  const std::int64_t abreast = width / ((along_y ? window.w : window.h) + 1) + 2;
  return std::min(2 * n, n_unions * length) * std::min(n, abreast);
}

void WindowUnion::append(std::span<Box> windows, const Box& bounds, std::vector<Box>& rectangles) {
  const auto [along, across] = along_and_across(bounds);
  const auto extent = [along = along](const Box& b) {
    return std::pair(b.begin.*along, b.end.*along);
  };
  windows = without_contained(windows);
  std::ranges::sort(windows, {}, extent);
  cuts_.clear();
  for (const Box& window : windows)
    for (const int cut : {window.begin.*along, window.end.*along}) cuts_.push_back(cut);
  std::ranges::sort(cuts_);
  cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());

  // Of one shape and cut alike, windows end in the order in which they begin.
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t slab_before = rectangles.size();
  for (std::size_t i = 0; i + 1 < cuts_.size(); ++i) {
    while (last < windows.size() && windows[last].begin.*along <= cuts_[i]) ++last;
    while (first < last && windows[first].end.*along <= cuts_[i]) ++first;
    const std::size_t slab = rectangles.size();
    append_slab(windows.subspan(first, last - first), cuts_[i], cuts_[i + 1], along, across,
                rectangles);
    const std::span<Box> all(rectangles);
    const std::span<Box> before = all.subspan(slab_before, slab - slab_before);
    if (slab < all.size() && continues(before, all.subspan(slab), along, across)) {
      for (Box& rectangle : before) rectangle.end.*along = cuts_[i + 1];
      rectangles.resize(slab);
    } else {
      slab_before = slab;
    }
  }
}

/// The union of windows that all reach from `begin` to `end`.
void WindowUnion::append_slab(std::span<const Box> windows, int begin, int end, Axis along,
                              Axis across, std::vector<Box>& rectangles) {
  extents_.clear();
  for (const Box& window : windows) extents_.emplace_back(window.begin.*across, window.end.*across);
  std::ranges::sort(extents_);
  const std::size_t first = rectangles.size();
  for (const auto& [from, to] : extents_) {
    if (rectangles.size() == first || from > rectangles.back().end.*across) {
      Box rectangle;
      rectangle.begin.*along = begin;
      rectangle.end.*along = end;
      rectangle.begin.*across = from;
      rectangle.end.*across = to;
      rectangles.push_back(rectangle);
    }
    int& reached = rectangles.back().end.*across;
    reached = std::max(reached, to);
  }
}

}  // namespace tessera::decomposition

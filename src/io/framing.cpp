#include "framing.hpp"

#include <algorithm>

namespace tessera::io {
namespace {

/// Pixels of the cut, from the lowest frequency on, where they were recorded.
/// @param is_flipped the file counts the axis from its other end
std::vector<int> recorded_pixels(int n_recorded, int n_cut, int centre, bool is_flipped,
                                 ZeroFrequency at) {
  std::vector<int> pixels;
  for (int i = 0; i < n_cut; ++i) {
    const int frequency = i - n_cut / 2;
    const int pixel =
        at == ZeroFrequency::corner ? (frequency + n_recorded) % n_recorded : frequency + centre;
    pixels.push_back(is_flipped ? n_recorded - 1 - pixel : pixel);
  }
  return pixels;
}

std::vector<int> pattern_pixels(int n_binned, int n_pattern, ZeroFrequency at) {
  const int origin = at == ZeroFrequency::nowhere ? n_pattern / 2 : 0;
  std::vector<int> pixels;
  pixels.reserve(static_cast<std::size_t>(n_binned));
  for (int i = 0; i < n_binned; ++i)
    pixels.push_back((i - n_binned / 2 + origin + n_pattern) % n_pattern);
  return pixels;
}

/// The box of what the file must give.
Box hull_of(const std::vector<int>& rows, const std::vector<int>& columns) {
  const auto [top, bottom] = std::ranges::minmax(rows);
  const auto [left, right] = std::ranges::minmax(columns);
  return {{top, left}, {bottom + 1, right + 1}};
}

}  // namespace

Framing::Framing(const geometry::DetectorFrame& frame, ZeroFrequency at)
    : bin_(frame.bin),
      width_(frame.pattern.w),
      transposed_(frame.turn.transpose),
      from_y_(
          recorded_pixels(frame.recorded.h, frame.cut.h, frame.centre.y, frame.turn.flip_y, at)),
      from_x_(
          recorded_pixels(frame.recorded.w, frame.cut.w, frame.centre.x, frame.turn.flip_x, at)),
      to_y_(pattern_pixels(frame.binned().h, frame.pattern.h, at)),
      to_x_(pattern_pixels(frame.binned().w, frame.pattern.w, at)) {
  for (std::size_t x = 0; bin_ == 1 && x < to_x_.size(); ++x) {
    const bool goes_on = !runs_.empty() && from_x_[x] == runs_.back().from + runs_.back().n &&
                         to_x_[x] == runs_.back().to + runs_.back().n;
    if (!goes_on) runs_.push_back({from_x_[x], to_x_[x], 0});
    ++runs_.back().n;
  }
  needed_ = transposed_ ? hull_of(from_x_, from_y_) : hull_of(from_y_, from_x_);
}

}  // namespace tessera::io

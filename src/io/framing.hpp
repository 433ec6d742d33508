#pragma once
/// Where the pixels of a recorded pattern go: cut, bin, pad, and zero frequency to [0, 0].

#include <cstdint>
#include <vector>

#include "tessera/geometry/detector_frame.hpp"

namespace tessera::io {

/// Distance of pixel `i` of `n` from zero frequency at [0], in [-n/2, n/2).
inline int frequency_index(int i, int n) {
  return i < (n + 1) / 2 ? i : i - n;
}

class Framing {
 public:
  /// @param centred zero frequency of what was recorded is at [h/2, w/2]; else at [0, 0]
  Framing(const geometry::DetectorFrame& frame, bool centred);

  /// The recorded pixels that must be read: a box, as files have it.
  const Box& needed() const { return needed_; }

  /// visit(pixel, recorded) for each pixel of the pattern that was recorded: recorded(use) calls
  /// use(i) for the pixels it is the sum of. `pixel` and i count row by row, i in the box `held`.
  template <class Visit>
  void for_each_pixel(const Box& held, const Visit& visit) const {
    for (std::size_t y = 0; y < to_y_.size(); ++y)
      for (std::size_t x = 0; x < to_x_.size(); ++x)
        visit(to_y_[y] * static_cast<std::int64_t>(width_) + to_x_[x], [&](const auto& use) {
          for (std::size_t i = y * bin_; i < (y + 1) * bin_; ++i) {
            const std::int64_t row =
                static_cast<std::int64_t>(from_y_[i] - held.begin.y) * held.width() - held.begin.x;
            for (std::size_t j = x * bin_; j < (x + 1) * bin_; ++j) use(row + from_x_[j]);
          }
        });
  }

 private:
  std::size_t bin_;
  int width_;
  Box needed_;
  std::vector<int> from_y_;  ///< recorded rows of the cut, from the lowest frequency on
  std::vector<int> from_x_;
  std::vector<int> to_y_;  ///< the pattern's row of each `bin` of them
  std::vector<int> to_x_;
};

}  // namespace tessera::io

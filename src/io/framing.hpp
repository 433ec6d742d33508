#pragma once
/// Where the pixels of a recorded pattern go: turn, cut, bin, pad, and zero frequency to [0, 0].

#include <cstdint>
#include <vector>

#include "geometry/detector_frame.hpp"
#include "io/scan_reader.hpp"

namespace tessera::io {

/// Distance of pixel `i` of `n` from zero frequency at [0], in [-n/2, n/2).
inline int frequency_index(int i, int n) {
  return i < (n + 1) / 2 ? i : i - n;
}

/// Where what was recorded has the zero frequency: at the frame's centre, at [0, 0], or, in the
/// near field, nowhere: images keep their order, and are cut about the centre.
enum class ZeroFrequency { centre, corner, nowhere };

inline ZeroFrequency zero_frequency(const ScanSource& source) {
  if (source.in_near_field) return ZeroFrequency::nowhere;
  return source.zero_frequency_centred ? ZeroFrequency::centre : ZeroFrequency::corner;
}

/// Where the file has a pixel of the turned detector.
inline Pixel stored_pixel(const geometry::DetectorFrame& frame, Pixel turned) {
  const int y = frame.turn.flip_y ? frame.recorded.h - 1 - turned.y : turned.y;
  const int x = frame.turn.flip_x ? frame.recorded.w - 1 - turned.x : turned.x;
  return frame.turn.transpose ? Pixel{x, y} : Pixel{y, x};
}

class Framing {
 public:
  Framing(const geometry::DetectorFrame& frame, ZeroFrequency at);

  /// The recorded pixels that must be read: a box, as files have it, not turned.
  const Box& needed() const { return needed_; }

  /// visit(pixel, recorded) for each pixel of the pattern that was recorded: recorded(use) calls
  /// use(i) for the pixels it is the sum of. `pixel` and i count row by row, i in the box `held`.
  template <class Visit>
  void for_each_pixel(const Box& held, const Visit& visit) const {
    if (bin_ == 1)
      visit_pixels<1>(held, visit);
    else
      visit_pixels<0>(held, visit);
  }

  /// The same by runs, quickly: visit(pixel, i, n) for n pixels that follow one another in both.
  /// @return false, and nothing is done, where pixels are summed or rows and columns exchanged
  template <class Visit>
  bool for_each_run(const Box& held, const Visit& visit) const {
    if (bin_ != 1 || transposed_) return false;
    for (std::size_t y = 0; y < to_y_.size(); ++y)
      for (const Run& run : runs_)
        visit(to_y_[y] * std::int64_t{width_} + run.to,
              std::int64_t{from_y_[y] - held.begin.y} * held.width() + run.from - held.begin.x,
              run.n);
    return true;
  }

 private:
  /// Columns that follow one another both as recorded and in the pattern.
  struct Run {
    int from = 0;
    int to = 0;
    int n = 0;
  };

  /// @param known_bin 0: any
  template <int known_bin, class Visit>
  void visit_pixels(const Box& held, const Visit& visit) const {
    const int bin = known_bin > 0 ? known_bin : bin_;
    const auto n_y = static_cast<int>(to_y_.size());
    const auto n_x = static_cast<int>(to_x_.size());
    const int* from_x = from_x_.data();
    const int* to_x = to_x_.data();
    const std::int64_t step_y = transposed_ ? 1 : held.width();
    const std::int64_t step_x = transposed_ ? held.width() : 1;
    const std::int64_t first = std::int64_t{held.begin.y} * held.width() + held.begin.x;
    for (int y = 0; y < n_y; ++y) {
      const int* from_y = from_y_.data() + std::int64_t{y} * bin;
      const std::int64_t to_row = to_y_[static_cast<std::size_t>(y)] * std::int64_t{width_};
      for (int x = 0; x < n_x; ++x)
        visit(to_row + to_x[x], [&](const auto& use) {
          for (int i = 0; i < bin; ++i) {
            const std::int64_t row = from_y[i] * step_y - first;
            for (int j = 0; j < bin; ++j) use(row + from_x[x * bin + j] * step_x);
          }
        });
    }
  }

  int bin_;
  int width_;
  bool transposed_;  ///< rows of the cut are columns of what was recorded
  Box needed_;
  std::vector<int> from_y_;  ///< rows of the cut, from the lowest frequency on, where recorded
  std::vector<int> from_x_;
  std::vector<int> to_y_;  ///< the pattern's row of each `bin` of them
  std::vector<int> to_x_;
  std::vector<Run> runs_;  ///< of from_x_ and to_x_, where nothing is summed
};

}  // namespace tessera::io

#include "framing.hpp"

namespace tessera::io {
namespace {

/// Pixels of the cut, from the lowest frequency on, where they were recorded.
std::vector<int> recorded_pixels(int n_recorded, int n_cut, bool centred) {
  std::vector<int> pixels;
  for (int i = 0; i < n_cut; ++i) {
    const int frequency = i - n_cut / 2;
    pixels.push_back(centred ? frequency + n_recorded / 2 : (frequency + n_recorded) % n_recorded);
  }
  return pixels;
}

std::vector<int> pattern_pixels(int n_binned, int n_pattern) {
  std::vector<int> pixels;
  pixels.reserve(static_cast<std::size_t>(n_binned));
  for (int i = 0; i < n_binned; ++i) pixels.push_back((i - n_binned / 2 + n_pattern) % n_pattern);
  return pixels;
}

}  // namespace

Framing::Framing(const geometry::DetectorFrame& frame, bool centred)
    : bin_(frame.bin),
      width_(frame.pattern.w),
      needed_(Box::at({0, 0}, frame.recorded)),
      from_y_(recorded_pixels(frame.recorded.h, frame.cut.h, centred)),
      from_x_(recorded_pixels(frame.recorded.w, frame.cut.w, centred)),
      to_y_(pattern_pixels(frame.binned().h, frame.pattern.h)),
      to_x_(pattern_pixels(frame.binned().w, frame.pattern.w)) {
  if (centred) needed_ = Box::at({from_y_.front(), from_x_.front()}, frame.cut);
}

}  // namespace tessera::io

#pragma once
/// Which detector pixels a reconstruction sees.

#include "tessera/base/box.hpp"

namespace tessera::geometry {

/// From a recorded pattern to the one that is reconstructed from: cut out about the zero frequency,
/// summed bin x bin, and put into the middle of a larger detector.
struct DetectorFrame {
  Shape2 recorded;
  Shape2 cut;  ///< a multiple of bin
  int bin = 1;
  Shape2 pattern;  ///< afterwards
  Shape2 binned() const { return {cut.h / bin, cut.w / bin}; }
};

/// The whole of a detector, as it is.
inline DetectorFrame whole_detector(Shape2 recorded) {
  return {recorded, recorded, 1, recorded};
}

/// @param crop, pad_to (0, 0): none
/// @throws InputError naming data.crop, data.bin or data.pad_to
DetectorFrame make_frame(Shape2 recorded, Shape2 crop, int bin, Shape2 pad_to);

/// Zero frequency of `n` recorded pixels is at n / 2, and a block of `bin` pixels there is one
/// pixel afterwards. Its middle, from the zero frequency, recorded pixels: not 0 unless n / bin and
/// bin are odd. All patterns are displaced alike, which is a phase ramp of the probe.
double binned_zero_frequency_px(int n, int bin);

}  // namespace tessera::geometry

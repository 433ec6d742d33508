#pragma once
/// Which detector pixels a reconstruction sees.

#include <optional>

#include "tessera/base/box.hpp"

namespace tessera::geometry {

/// How an image is turned before anything else is done: rows and columns exchanged, then their
/// orders turned round.
struct Turn {
  bool transpose = false;
  bool flip_y = false;
  bool flip_x = false;
};

/// Of an image of `shape` (before or after) when rows and columns are exchanged.
inline Shape2 turned_shape(Shape2 shape, const Turn& turn) {
  return turn.transpose ? Shape2{shape.w, shape.h} : shape;
}

/// From a recorded pattern to the one that is reconstructed from: turned, cut out about the zero
/// frequency, summed bin x bin, and put into the middle of a larger detector.
struct DetectorFrame {
  Shape2 recorded;  ///< after turning, as all that follows
  Shape2 cut;       ///< a multiple of bin
  int bin = 1;
  Shape2 pattern;  ///< afterwards
  Pixel centre;    ///< of the zero frequency where patterns have it in the middle, recorded pixels
  Turn turn = {};
  Shape2 binned() const { return {cut.h / bin, cut.w / bin}; }
  /// Before turning.
  Shape2 stored() const { return turned_shape(recorded, turn); }
};

/// The whole of a detector, as it is.
inline DetectorFrame whole_detector(Shape2 recorded) {
  return {recorded, recorded, 1, recorded, {recorded.h / 2, recorded.w / 2}};
}

/// @param stored as the file has it
/// @param crop, pad_to (0, 0): none; where there is a `centre`, the largest square about it
/// @param centre of the zero frequency, recorded pixels, rounded here; none: the middle
/// @throws InputError naming data.crop, data.bin, data.centre_px or data.pad_to
DetectorFrame make_frame(Shape2 stored, Shape2 crop, int bin, Shape2 pad_to, const Turn& turn = {},
                         std::optional<Vec2> centre = {});

/// Zero frequency of `n` recorded pixels is at n / 2, and a block of `bin` pixels there is one
/// pixel afterwards. Its middle, from the zero frequency, recorded pixels: not 0 unless n / bin and
/// bin are odd. All patterns are displaced alike, which is a phase ramp of the probe.
double binned_zero_frequency_px(int n, int bin);

}  // namespace tessera::geometry

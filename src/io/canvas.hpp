#pragma once
/// A white picture to draw on: dots, lines, boxes, and small letters of our own, for which no font
/// need be installed.

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tessera/base/box.hpp"

namespace tessera::io {

using Rgb = std::array<std::uint8_t, 3>;

class Canvas {
 public:
  static constexpr int letter_width_dots = 4;  ///< the gap to the next included
  static constexpr int letter_height_dots = 5;

  explicit Canvas(Shape2 shape);
  Shape2 shape() const { return shape_; }
  /// Three bytes a pixel.
  const std::vector<std::uint8_t>& bytes() const { return bytes_; }

  // What lies outside is left out.
  void dot(Pixel at, Rgb colour);
  void line(Pixel from, Pixel to, Rgb colour);
  void fill(const Box& box, Rgb colour);
  /// Black, dots of `dot_px` pixels. There are digits and what lengths, angles, counts and decades
  /// need; other characters are gaps.
  void write(Pixel corner, std::string_view words, int dot_px);

 private:
  Shape2 shape_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace tessera::io

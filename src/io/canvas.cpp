#include "io/canvas.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace tessera::io {
namespace {

constexpr std::string_view letters = "0123456789-e.+acdgilmnoprstu";
/// Five rows of three dots for each, the top row in the highest bits.
constexpr std::array<int, letters.size()> dots_of{
    075557, 026227, 071747, 071717, 055711, 074717, 074757, 071111, 075757, 075717,
    000700, 075743, 000002, 002720, 003553, 003443, 013553, 035316, 020222, 062227,
    007755, 006555, 002552, 006564, 005644, 003636, 027223, 005557};

}  // namespace

Canvas::Canvas(Shape2 shape)
    : shape_(shape), bytes_(3 * static_cast<std::size_t>(shape.size()), 255) {}

void Canvas::dot(Pixel at, Rgb colour) {
  if (!Box::at({0, 0}, shape_).contains(at)) return;
  std::ranges::copy(colour, bytes_.begin() + 3 * (std::int64_t{at.y} * shape_.w + at.x));
}

void Canvas::line(Pixel from, Pixel to, Rgb colour) {
  const int steps = std::max({1, std::abs(to.y - from.y), std::abs(to.x - from.x)});
  for (int i = 0; i <= steps; ++i)
    dot({from.y + (to.y - from.y) * i / steps, from.x + (to.x - from.x) * i / steps}, colour);
}

void Canvas::fill(const Box& box, Rgb colour) {
  for (int y = box.begin.y; y < box.end.y; ++y)
    for (int x = box.begin.x; x < box.end.x; ++x) dot({y, x}, colour);
}

void Canvas::write(Pixel corner, std::string_view words, int dot_px) {
  for (const char letter : words) {
    const std::size_t which = letters.find(letter);
    for (int i = 0; which != std::string_view::npos && i < 15; ++i)
      if (dots_of[which] >> (14 - i) & 1)
        fill(Box::at(corner + Pixel{i / 3 * dot_px, i % 3 * dot_px}, {dot_px, dot_px}), {0, 0, 0});
    corner.x += letter_width_dots * dot_px;
  }
}

}  // namespace tessera::io

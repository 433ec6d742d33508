#include "run/tiles_picture.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "io/png.hpp"

namespace tessera::run {
namespace {

constexpr int longest_side_px = 1024;

/// From object pixels to those of the picture.
struct Scale {
  double factor = 1;

  int operator()(int px) const { return static_cast<int>(std::lround(factor * px)); }
  Pixel operator()(Pixel at) const { return {(*this)(at.y), (*this)(at.x)}; }
  Box operator()(const Box& box) const { return {(*this)(box.begin), (*this)(box.end)}; }
};

/// Ranks that follow one another differ; `level` 0 is black, 255 white.
io::Rgb colour_of(int rank, double level) {
  constexpr double golden_turn = 2.39996;
  const auto channel = [&](double turn) {
    return static_cast<std::uint8_t>(level +
                                     (255 - level) / 2 * (1 + std::cos(golden_turn * rank + turn)));
  };
  return {channel(0), channel(2.0944), channel(4.18879)};
}

void outline(io::Canvas& canvas, const Box& box, io::Rgb colour) {
  const Pixel last = box.end - Pixel{1, 1};
  const Pixel upper_right{box.begin.y, last.x};
  const Pixel lower_left{last.y, box.begin.x};
  canvas.line(box.begin, upper_right, colour);
  canvas.line(upper_right, last, colour);
  canvas.line(last, lower_left, colour);
  canvas.line(lower_left, box.begin, colour);
}

/// In its middle, where there is room.
void write_number(io::Canvas& canvas, const Box& box, int rank) {
  const std::string number = text(rank);
  const int dot = 2;
  const Shape2 size{io::Canvas::letter_height_dots * dot,
                    io::Canvas::letter_width_dots * dot * static_cast<int>(number.size())};
  if (size.h + 2 * dot > box.height() || size.w + 2 * dot > box.width()) return;
  const Pixel at{(box.begin.y + box.end.y - size.h) / 2, (box.begin.x + box.end.x - size.w) / 2};
  canvas.fill(Box::at(at - Pixel{dot, dot}, {size.h + 2 * dot, size.w + dot}), {255, 255, 255});
  canvas.write(at, number, dot);
}

}  // namespace

void draw_tiles(const decomposition::Tiling& tiling, std::span<const Pixel> corner,
                const std::string& folder) {
  const Scale scale{double{longest_side_px} / std::max(tiling.object.h, tiling.object.w)};
  io::Canvas canvas({std::max(1, scale(tiling.object.h)), std::max(1, scale(tiling.object.w))});
  const auto n_tiles = static_cast<int>(tiling.tiles.size());
  for (int rank = 0; rank < n_tiles; ++rank)
    canvas.fill(scale(tiling.tiles[static_cast<std::size_t>(rank)].owned), colour_of(rank, 170));
  for (const Pixel at : corner)
    canvas.dot(scale(at + Pixel{tiling.window.h / 2, tiling.window.w / 2}), {60, 60, 60});
  for (int rank = 0; rank < n_tiles; ++rank) {
    const decomposition::Tile& tile = tiling.tiles[static_cast<std::size_t>(rank)];
    outline(canvas, scale(tile.ghosted), colour_of(rank, 0));
    if (!tile.owned.empty()) write_number(canvas, scale(tile.owned), rank);
  }
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed)
    throw SystemError(
        text("--png: the folder \"", folder, "\" cannot be made: ", failed.message()));
  io::write_canvas_png((std::filesystem::path(folder) / text("tiles_", n_tiles, ".png")).string(),
                       canvas);
}

}  // namespace tessera::run

#include "analysis/zoom_tiles.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <filesystem>
#include <functional>
#include <memory>
#include <system_error>
#include <vector>

#include "tessera/base/error.hpp"
#include "tessera/base/progress.hpp"
#include "tessera/base/text.hpp"

#include "io/png.hpp"

namespace tessera::analysis {
namespace {

using Complex = std::complex<double>;
constexpr int tile_px = ZoomLevels::tile_px;
constexpr int half_px = tile_px / 2;

struct TileValues {
  explicit TileValues(Shape2 shape) : waves(1, shape), amplitudes(1, shape) {}
  WaveStack waves;
  ImageStack<double> amplitudes;
};

/// What a tile gives to the level before; of its values those that there are.
struct Half {
  Pixel tile;
  Shape2 shape;
  std::array<Complex, half_px * half_px> waves;
  std::array<double, half_px * half_px> amplitudes;
};

template <class T>
T mean_of_four(const ImageStack<T>& values, int y, int x) {
  T sum = 0;
  int n = 0;
  for (int v = 2 * y; v < std::min(2 * y + 2, values.h()); ++v)
    for (int u = 2 * x; u < std::min(2 * x + 2, values.w()); ++u, ++n) sum += values(0, v, u);
  return sum / static_cast<double>(n);
}

void halve(const TileValues& values, Pixel tile, Half& half) {
  half.tile = tile;
  half.shape = {(values.waves.h() + 1) / 2, (values.waves.w() + 1) / 2};
  for (int y = 0; y < half.shape.h; ++y)
    for (int x = 0; x < half.shape.w; ++x) {
      const auto at = static_cast<std::size_t>(y * half_px + x);
      half.waves[at] = mean_of_four(values.waves, y, x);
      half.amplitudes[at] = mean_of_four(values.amplitudes, y, x);
    }
}

/// Into the tile of the level before.
void put(const Half& half, TileValues& values) {
  const Pixel corner{half.tile.y % 2 * half_px, half.tile.x % 2 * half_px};
  for (int y = 0; y < half.shape.h; ++y)
    for (int x = 0; x < half.shape.w; ++x) {
      const auto at = static_cast<std::size_t>(y * half_px + x);
      values.waves(0, corner.y + y, corner.x + x) = half.waves[at];
      values.amplitudes(0, corner.y + y, corner.x + x) = half.amplitudes[at];
    }
}

/// The tiles of an object's finest level, read in blocks of several.
class FinestTiles {
 public:
  static constexpr int tiles_along = 4;

  FinestTiles(const io::File& file, const ObjectLook& look) : object_(file, look), box_(look.box) {}

  TileValues read(const Box& tile) {
    if (!held_.contains(tile)) hold(tile);
    TileValues values(tile.shape());
    values.waves = optics::cropped(waves_, moved(tile, Pixel{} - held_.begin));
    std::ranges::transform(values.waves, values.amplitudes.begin(),
                           [](const Complex& value) { return std::abs(value); });
    return values;
  }

 private:
  void hold(const Box& tile) {
    constexpr int side_px = tiles_along * tile_px;
    const Pixel corner{tile.begin.y / side_px * side_px, tile.begin.x / side_px * side_px};
    held_ = intersection(Box::at(corner, {side_px, side_px}), Box::at({0, 0}, box_.shape()));
    waves_ = object_.shown(moved(held_, box_.begin));
    note_progress();
  }

  ShownObject object_;
  Box box_;   ///< of object pixels
  Box held_;  ///< within that one
  WaveStack waves_;
};

class TileWriter {
 public:
  TileWriter(const io::File& file, const ObjectLook& look, const ZoomFolders& folders)
      : finest_(file, look), look_(look), folders_(folders), levels_(look.box.shape()) {}

  /// Writes a tile and all below it; recursion reads the blocks of the object one after another.
  void write_tree(int level, Pixel at, Half& half) {
    const TileValues values =
        level == levels_.last() ? finest_.read(levels_.tile(level, at)) : joined_tree(level, at);
    write(level, at, values);
    halve(values, at, half);
  }

  /// Writes a tile that is made of these.
  void write_joined(int level, Pixel at, const std::vector<const Half*>& parts, Half& half) {
    TileValues values(levels_.tile(level, at).shape());
    for (const Half* part : parts) put(*part, values);
    write(level, at, values);
    halve(values, at, half);
  }

 private:
  TileValues joined_tree(int level, Pixel at) {
    TileValues values(levels_.tile(level, at).shape());
    const Shape2 n = levels_.tiles(level + 1);
    const auto part = std::make_unique<Half>();  // too large for a stack of all levels
    for (int y = 2 * at.y; y < std::min(2 * at.y + 2, n.h); ++y)
      for (int x = 2 * at.x; x < std::min(2 * at.x + 2, n.w); ++x) {
        write_tree(level + 1, {y, x}, *part);
        put(*part, values);
      }
    return values;
  }

  void write(int level, Pixel at, const TileValues& values) const {
    const std::string name = text('/', level, '/', at.x, '_', at.y, ".png");
    const Shape2 shape = values.waves.shape();
    std::vector<double> phases(values.waves.size());
    std::ranges::transform(values.waves, phases.begin(), wrapped_phase_rad);
    io::write_grey_png(folders_.phase + name, shape, phases, look_.phase.as_pair());
    io::write_grey_png(folders_.amplitude + name, shape,
                       std::span(values.amplitudes.data(), values.amplitudes.size()),
                       look_.amplitude.as_pair());
  }

  FinestTiles finest_;
  const ObjectLook& look_;
  const ZoomFolders& folders_;
  ZoomLevels levels_;
};

/// The level whose tiles, each with all below it, are dealt out: enough of them for an even share.
int level_to_deal(const ZoomLevels& levels, int n_ranks) {
  constexpr int least_share = 16;
  const int most = std::max(0, levels.last() - 2);  // a block of the finest level is read once
  static_assert(FinestTiles::tiles_along == 1 << 2);
  int level = 0;
  while (level < most && n_ranks > 1 &&
         levels.tiles(level).size() < std::int64_t{least_share} * n_ranks)
    ++level;
  return level;
}

int owner_of(Pixel tile, Shape2 tiles, int n_ranks) {
  return static_cast<int>((std::int64_t{tile.y} * tiles.w + tile.x) % n_ranks);
}

/// `use` gets every tile that is this rank's.
void for_each_own(Shape2 tiles, const comm::Communicator& comm,
                  const std::function<void(Pixel)>& use) {
  for (int y = 0; y < tiles.h; ++y)
    for (int x = 0; x < tiles.w; ++x)
      if (owner_of({y, x}, tiles, comm.size()) == comm.rank()) use({y, x});
}

Pixel parent_of(Pixel tile) {
  return {tile.y / 2, tile.x / 2};
}

}  // namespace

ZoomLevels::ZoomLevels(Shape2 whole) : whole_(whole) {
  while ((std::int64_t{1} << last_) < std::max(whole.h, whole.w)) ++last_;
}

Shape2 ZoomLevels::shape(int level) const {
  const auto halved = [&](int n) {
    const std::int64_t step = std::int64_t{1} << (last_ - level);
    return static_cast<int>((n + step - 1) / step);
  };
  return {halved(whole_.h), halved(whole_.w)};
}

Shape2 ZoomLevels::tiles(int level) const {
  const Shape2 px = shape(level);
  return {(px.h + tile_px - 1) / tile_px, (px.w + tile_px - 1) / tile_px};
}

Box ZoomLevels::tile(int level, Pixel at) const {
  return intersection(Box::at({at.y * tile_px, at.x * tile_px}, {tile_px, tile_px}),
                      Box::at({0, 0}, shape(level)));
}

void make_zoom_folders(const ZoomFolders& folders, const ZoomLevels& levels) {
  for (const std::string& folder : {folders.amplitude, folders.phase})
    for (int level = 0; level <= levels.last(); ++level) {
      const std::string path = text(folder, '/', level);
      std::error_code error;
      std::filesystem::create_directories(path, error);
      if (error)
        throw SystemError(text("cannot make the folder \"", path, "\": ", error.message()));
    }
}

void write_zoom_tiles(const io::File& file, const ObjectLook& look, const ZoomFolders& folders,
                      const comm::Communicator& comm) {
  const ZoomLevels levels(look.box.shape());
  TileWriter writer(file, look, folders);
  const int dealt = level_to_deal(levels, comm.size());
  std::vector<Half> halves;
  comm.together([&] {
    for_each_own(levels.tiles(dealt), comm,
                 [&](Pixel tile) { writer.write_tree(dealt, tile, halves.emplace_back()); });
  });
  for (int level = dealt - 1; level >= 0; --level) {
    const Shape2 tiles = levels.tiles(level);
    std::vector<std::vector<Half>> to(static_cast<std::size_t>(comm.size()));
    for (const Half& half : halves)
      to[static_cast<std::size_t>(owner_of(parent_of(half.tile), tiles, comm.size()))].push_back(
          half);
    const std::vector<Half> parts = comm.exchange(to);
    halves.clear();
    comm.together([&] {
      for_each_own(tiles, comm, [&](Pixel tile) {
        std::vector<const Half*> own;
        for (const Half& part : parts)
          if (parent_of(part.tile) == tile) own.push_back(&part);
        writer.write_joined(level, tile, own, halves.emplace_back());
      });
    });
  }
}

}  // namespace tessera::analysis

#pragma once
/// An object as pictures that can be zoomed into: tiles of every resolution, laid out as Deep Zoom
/// has them, made on ranks.

#include <string>

#include "tessera/comm/communicator.hpp"
#include "tessera/io/hdf5.hpp"

#include "object_picture.hpp"

namespace tessera::analysis {

/// The last level has every pixel, each before it half as many a side, rounded up, the first one
/// pixel.
class ZoomLevels {
 public:
  static constexpr int tile_px = 256;

  /// @param whole pixels of the last level
  explicit ZoomLevels(Shape2 whole);
  int last() const { return last_; }
  Shape2 shape(int level) const;
  /// How many tiles.
  Shape2 tiles(int level) const;
  /// Pixels of a tile on its level.
  Box tile(int level, Pixel at) const;

 private:
  Shape2 whole_;
  int last_ = 0;
};

/// Folders of the tiles of one picture of an object, which hold LEVEL/COLUMN_ROW.png.
struct ZoomFolders {
  std::string amplitude;
  std::string phase;
};

/// The folders of every level. On the calling rank alone. @throws SystemError
void make_zoom_folders(const ZoomFolders& folders, const ZoomLevels& levels);

/// Writes the tiles of the look's box, grey over the look's ranges; the folders exist. A pixel of a
/// level is the mean of the up to 2 x 2 pixels of the next that it covers: of the amplitudes for
/// amplitudes; for the phase of the waves, whose sum turns smoothly where a wrapped phase jumps by
/// 2 pi and its mean would be of neither side. A rank holds a block of the object and its share of
/// a level of few tiles. The files do not depend on the number of ranks. Collective.
/// @param file open on every rank
/// @throws AgreedError
void write_zoom_tiles(const io::File& file, const ObjectLook& look, const ZoomFolders& folders,
                      const comm::Communicator& comm);

}  // namespace tessera::analysis

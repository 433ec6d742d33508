#include <algorithm>
#include <numeric>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "io/scan_reader.hpp"
#include "stored_patterns.hpp"

namespace tessera::io {

struct PatternFile::Reader {
  Reader(ScanSource scan_source, ScanInfo scan_info, int max_patterns)
      : source(std::move(scan_source)),
        info(std::move(scan_info)),
        file(info.format->open(source, nullptr)),
        stored(source, info, *file),
        whole_bytes(file->bytes()) {
    stored.reserve(info.positions_per_chunk.size());
    by_chunk.reserve(static_cast<std::size_t>(max_patterns));
  }

  /// The file's chunk that holds `position`, (row, column), as one number.
  std::int64_t chunk_of(int position) const {
    const auto [y, x] = pixel_of(position);
    const std::int64_t columns = stored.scan().w / info.positions_per_chunk.w + 1;
    return y / info.positions_per_chunk.h * columns + x / info.positions_per_chunk.w;
  }
  Pixel pixel_of(int position) const {
    return {position / stored.scan().w, position % stored.scan().w};
  }

  void read(std::span<const int> positions, std::byte* patterns);
  void read_chunk(std::span<const int> chosen, std::span<const int> positions, std::byte* patterns);
  void check_whole(int position) const;

  ScanSource source;
  ScanInfo info;
  std::unique_ptr<ScanReader> file;
  StoredPatterns stored;
  std::int64_t whole_bytes;   ///< of the file when it was opened
  std::vector<int> by_chunk;  ///< indices of one read's positions, those of a chunk together
};

void PatternFile::Reader::read(std::span<const int> positions, std::byte* patterns) {
  by_chunk.resize(positions.size());
  std::iota(by_chunk.begin(), by_chunk.end(), 0);
  std::sort(by_chunk.begin(), by_chunk.end(), [&](int a, int b) {
    return std::pair(chunk_of(positions[a]), positions[a]) <
           std::pair(chunk_of(positions[b]), positions[b]);
  });
  const std::span<const int> all(by_chunk);
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin;
    while (end < all.size() && chunk_of(positions[all[end]]) == chunk_of(positions[all[begin]]))
      ++end;
    read_chunk(all.subspan(begin, end - begin), positions, patterns);
    begin = end;
  }
}

/// The smallest box of the chunk that holds what was chosen of it, read at once.
void PatternFile::Reader::read_chunk(std::span<const int> chosen, std::span<const int> positions,
                                     std::byte* patterns) {
  Box box;
  for (const int i : chosen) box = hull(box, Box::at(pixel_of(positions[i]), {1, 1}));
  const int first = positions[chosen.front()];
  try {
    stored.read(box);
  } catch (const InputError& error) {
    check_whole(first);
    throw InputError(text("scan position ", first, ": ", error.what()));
  }
  // HDF5, for one, reads zeros where a file ends too early.
  check_whole(first);
  for (const int i : chosen) {
    const auto [y, x] = pixel_of(positions[i]);
    const std::int64_t at =
        static_cast<std::int64_t>(y - box.begin.y) * box.width() + x - box.begin.x;
    const double counts = stored.prepare(
        positions[i], at, patterns + static_cast<std::size_t>(i) * stored.pattern_bytes());
    if (counts == 0)
      throw InputError(
          text("\"", source.path, "\" changed while it was in use: the pattern of scan position ",
               positions[i], " had counts and now holds none; start again when it is complete"));
  }
}

void PatternFile::Reader::check_whole(int position) const {
  const std::int64_t bytes = file->bytes();
  if (bytes >= whole_bytes) return;
  throw InputError(text("\"", source.path, "\" was cut short while it was in use, from ",
                        whole_bytes, " to ", bytes, " bytes, noticed at scan position ", position,
                        "; copy or write it again"));
}

PatternFile::PatternFile(const ScanSource& source, const ScanInfo& info, int max_patterns)
    : reader_(std::make_unique<Reader>(source, info, max_patterns)) {}

PatternFile::~PatternFile() = default;

void PatternFile::read(std::span<const int> positions, std::byte* patterns) {
  reader_->read(positions, patterns);
}

}  // namespace tessera::io

#pragma once
/// The reader of patterns that lie in a file one after another, as plain numbers.

#include <memory>
#include <string>
#include <vector>

#include "byte_source.hpp"
#include "number_type.hpp"
#include "scan_format.hpp"

namespace tessera::io {

struct FlatPatterns {
  std::string path;  ///< of the file that holds them
  NumberType type;
  std::int64_t first_byte = 0;
  std::int64_t bytes_between = 0;              ///< after each pattern, before the next
  std::vector<std::int64_t> first_bytes = {};  ///< of each pattern, where they lie anyhow
  /// They are packed: places of theirs are counted in what this unpacks to.
  std::shared_ptr<ByteSource> unpacked = {};
  /// All positions of a pixel lie together, without bytes between; needs a raster.
  bool has_frames_last = false;
  int n_positions = 0;
  std::vector<int> raster = {};  ///< (rows, columns), if the file knows them
  Shape2 shape = {};
};

/// @param source may name arrays of the same file, if that has arrays by name
/// @throws InputError if the file is shorter than its patterns
std::unique_ptr<ScanReader> open_flat_scan(const FlatPatterns& patterns, const ScanSource& source);

}  // namespace tessera::io

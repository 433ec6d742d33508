#pragma once
/// The reader that all formats of HDF5 files share.

#include <memory>

#include "tessera/io/hdf5.hpp"

#include "scan_format.hpp"

namespace tessera::io {

/// What a file's patterns are read as.
ElementType element_type(PatternType type);

/// @param source names the datasets
/// @param has_frames_last patterns are (y, x, position)
std::unique_ptr<ScanReader> open_hdf5_scan(File file, const ScanSource& source,
                                           bool has_frames_last = false);

}  // namespace tessera::io

#pragma once
/// Masks and other images of the whole detector.

#include "tessera/io/hdf5.hpp"
#include "tessera/io/scan_reader.hpp"

namespace tessera::io {

std::string shape_text(const Extents& extents);

/// Sets valid_pixels, has_own_masks and saturation of `info`, whose frame and type are known.
/// @throws InputError
void read_masks(const File& file, const ScanSource& source, ScanInfo& info);

}  // namespace tessera::io

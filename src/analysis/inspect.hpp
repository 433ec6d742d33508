#pragma once
/// `tessera inspect`: what is in a scan or a result.

#include <string>

namespace tessera::analysis {

/// Shapes, types, geometry, positions, dose and mask of a scan; modes, history, tiles and versions
/// of a result. Reads every pattern, in pieces; on the calling rank alone.
/// @param path a result, any HDF5 file with patterns, or a deck that names one
/// @return indented text, or JSON with units in the names
/// @throws InputError if the file is none of these
std::string inspect_report(const std::string& path, bool json);

}  // namespace tessera::analysis

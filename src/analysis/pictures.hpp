#pragma once
/// Pictures of a result or a scan.

#include <string>
#include <vector>

namespace tessera::analysis {

/// Of a result: object_amplitude.png and object_phase.png (illuminated box, ramp removed, mean
/// phase 0, slices multiplied), probe.png (modes side by side). Of a scan:
/// pattern_mean.png (logarithm of the counts), positions.png. Colour and scale bars stand on the
/// right of the pictures and below, whose own pixels begin at the upper left. An object longer than
/// 4096 pixels is thinned as it is read. On the calling rank alone.
/// @param path as for inspect_report
/// @param folder made if it does not exist
/// @return the paths written
/// @throws InputError, SystemError naming the path
std::vector<std::string> write_pictures(const std::string& path, const std::string& folder);

}  // namespace tessera::analysis

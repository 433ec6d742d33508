#pragma once
/// The parts of an inspection.

#include <nlohmann/json.hpp>

#include "tessera/io/hdf5.hpp"

#include "file_contents.hpp"

namespace tessera::analysis {

using Json = nlohmann::ordered_json;

/// Type, shape and chunks of every dataset.
Json datasets_section(const io::File& file);

/// The numbers about wavelength, pixels and detector that the root's attributes hold.
Json geometry_section(const io::File& file);

/// Count, extent and step of positions.
Json positions_section(const std::vector<Vec2>& positions_m);

Json result_report(const io::File& file);
Json scan_report(const ScanContents& contents);

}  // namespace tessera::analysis

// Nion Swift's HDF5 files: data/<id> (scan_y, scan_x, y, x), with what is known of it as JSON in an
// attribute.

#include <nlohmann/json.hpp>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "described_formats.hpp"
#include "electron_statements.hpp"

namespace tessera::io {
namespace {

/// Null: there is none.
nlohmann::json properties(const File& file, const std::string& name) {
  try {
    if (const auto words = file.text_attribute(name, "properties"))
      return nlohmann::json::parse(*words, nullptr, false);
  } catch (const InputError&) {  // something else goes by that name
  }
  return nlohmann::json::value_t::discarded;
}

/// Of one of four axes.
std::optional<Fact> step(const nlohmann::json& properties, std::size_t axis) {
  for (const char* list : {"spatial_calibrations", "dimensional_calibrations"}) {
    if (!properties.contains(list) || properties[list].size() != 4) continue;
    const nlohmann::json& calibration = properties[list][axis];
    const double scale = calibration.value("scale", 0.0);
    if (scale > 0) return Fact{text(list, '[', axis, ']'), scale, calibration.value("units", "")};
  }
  return {};
}

std::optional<ScanDescription> describe_nion(const File& file) {
  for (const std::string& member : file.members("data")) {
    const std::string name = first_dataset(file, {("data/" + member).c_str()});
    if (name.empty() || file.info(name).extents.size() != 4) continue;
    const nlohmann::json said = properties(file, name);
    if (!said.is_object()) continue;
    ScanDescription scan;
    scan.what = "Nion Swift file";
    scan.patterns = name;
    std::optional<double> voltage_V;
    const nlohmann::json::json_pointer voltage("/metadata/instrument/high_tension");
    if (said.contains(voltage) && said.at(voltage).is_number())
      voltage_V = state_voltage({"high_tension", said.at(voltage).get<double>(), "V"}, scan);
    state_raster(step(said, 0), step(said, 1), scan);
    state_detector(step(said, 2), voltage_V, scan);
    return scan;
  }
  return {};
}

}  // namespace

ScanFormat nion_scans() {
  return described<describe_nion>("nion");
}

}  // namespace tessera::io

// Velox' EMD files (Thermo Fisher): Data/Image/<id>/Data (y, x, frame), and for each frame what is
// known of it, as JSON in a column of bytes.

#include <cmath>

#include <nlohmann/json.hpp>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "described_formats.hpp"
#include "electron_statements.hpp"

namespace tessera::io {
namespace {

/// The largest stack of Data/Image.
std::string largest_image(const File& file) {
  std::string largest;
  std::int64_t most = 0;
  for (const std::string& id : file.members("Data/Image")) {
    const std::string name = first_dataset(file, {("Data/Image/" + id + "/Data").c_str()});
    const Extents e = name.empty() ? Extents{} : file.info(name).extents;
    if (e.size() != 3 || e[2] < 2 || e[0] * e[1] * e[2] <= most) continue;
    most = e[0] * e[1] * e[2];
    largest = name;
  }
  return largest;
}

/// Of the first frame; null if it cannot be read.
nlohmann::json metadata_beside(const File& file, const std::string& data) {
  const std::string name = data.substr(0, data.rfind('/')) + "/Metadata";
  if (first_dataset(file, {name.c_str()}).empty()) return {};
  const Extents extents = file.info(name).extents;
  if (extents.size() != 2 || extents[1] < 1) return {};
  std::string words(static_cast<std::size_t>(extents[0]), '\0');
  file.read_slab_alone(name, {0, 0}, {extents[0], 1}, ElementType::u8, words.data());
  return nlohmann::json::parse(words.c_str(), nullptr, false);
}

/// Numbers are written as texts.
std::optional<Fact> fact(const nlohmann::json& metadata, const char* path, std::string unit) {
  const nlohmann::json::json_pointer pointer(path);
  if (metadata.is_discarded() || !metadata.contains(pointer)) return {};
  const nlohmann::json& found = metadata.at(pointer);
  const double value = found.is_string()   ? std::atof(found.get<std::string>().c_str())
                       : found.is_number() ? found.get<double>()
                                           : 0;
  if (!(std::isfinite(value) && value > 0)) return {};
  return Fact{text("Metadata", path), value, std::move(unit)};
}

std::string words(const nlohmann::json& metadata, const char* path) {
  const nlohmann::json::json_pointer pointer(path);
  const bool is_there = !metadata.is_discarded() && metadata.contains(pointer);
  return is_there && metadata.at(pointer).is_string() ? metadata.at(pointer).get<std::string>()
                                                      : "";
}

std::optional<ScanDescription> describe_velox(const File& file) {
  ScanDescription scan;
  scan.patterns = largest_image(file);
  if (scan.patterns.empty()) return {};
  scan.what = "EMD file of Velox";
  scan.has_frames_last = true;
  const nlohmann::json metadata = metadata_beside(file, scan.patterns);
  std::optional<double> voltage_V;
  if (const auto voltage = fact(metadata, "/Optics/AccelerationVoltage", "V"))
    voltage_V = state_voltage(*voltage, scan);
  state_detector(
      fact(metadata, "/BinaryResult/PixelSize/width", words(metadata, "/BinaryResult/PixelUnitX")),
      voltage_V, scan);
  if (const auto angle = fact(metadata, "/Optics/BeamConvergence", "rad"))
    scan.statements.push_back({"probe.semi_angle_rad", number(angle->value), angle->name});
  const auto rows = fact(metadata, "/Scan/ScanSize/height", "");
  const auto columns = fact(metadata, "/Scan/ScanSize/width", "");
  if (rows && columns &&
      std::llround(rows->value * columns->value) == file.info(scan.patterns).extents[2])
    scan.statements.push_back(
        {"data.raster_shape", number_pair(rows->value, columns->value), "Metadata/Scan/ScanSize"});
  if (const std::string model = words(metadata, "/Instrument/InstrumentModel"); !model.empty())
    scan.statements.push_back({"instrument", in_quotes(model), "Metadata/Instrument"});
  return scan;
}

}  // namespace

ScanFormat velox_scans() {
  return described<describe_velox>("velox");
}

}  // namespace tessera::io

// EMD files: py4DSTEM's and others of emdfile (emd_group_type "array", axes dim0 ...), and
// Berkeley's (emd_group_type 1, axes dim1 ...).

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "described_formats.hpp"
#include "electron_statements.hpp"

namespace tessera::io {
namespace {

std::string parent(const std::string& name) {
  const std::size_t slash = name.rfind('/');
  return slash == std::string::npos ? "" : name.substr(0, slash);
}

bool has_attribute(const File& file, const std::string& object, const char* name) {
  try {
    return file.number_attribute(object, name) || file.text_attribute(object, name);
  } catch (const InputError&) {
    return true;
  }
}

/// The largest 4-D dataset of a group that says it is one of EMD.
std::string find_patterns(const File& file) {
  std::string largest;
  std::int64_t most = 0;
  for (const std::string& name : file.names()) {
    if (!name.ends_with("/data") && !name.ends_with("/datacube")) continue;
    if (first_dataset(file, {name.c_str()}).empty()) continue;
    const std::string group = parent(name);
    const Extents extents = file.info(name).extents;
    if (extents.size() != 4 ||
        !(has_attribute(file, group, "emd_group_type") || name.starts_with("4DSTEM_experiment/")))
      continue;
    std::int64_t n = 1;
    for (const std::int64_t size : extents) n *= size;
    if (n <= most) continue;
    most = n;
    largest = name;
  }
  return largest;
}

/// Step and unit of axis `i` of four.
std::optional<Fact> axis_step(const File& file, const std::string& group, int i) {
  const bool counts_from_0 = file.has(group + "/dim0");
  const std::string name = text(group, "/dim", counts_from_0 ? i : i + 1);
  if (first_dataset(file, {name.c_str()}).empty()) return {};
  const std::vector<double> values = file.read_doubles(name);
  if (values.size() < 2) return {};
  std::string unit;
  try {
    unit = file.text_attribute(name, "units").value_or("");
  } catch (const InputError&) {  // no text
  }
  return Fact{name, values[1] - values[0], unit};
}

/// A calibration that py4DSTEM wrote beside the data, as dataset or as attribute.
std::optional<Fact> calibration(const File& file, const std::string& quantity) {
  for (const std::string& name : file.names()) {
    if (!name.ends_with("calibration/" + quantity + "_size")) continue;
    const auto size = find_number(file, {name.c_str()});
    if (!size) continue;
    const std::string units = parent(name) + "/" + quantity + "_units";
    return Fact{name, size->value, file.has(units) ? file.read_text(units) : ""};
  }
  return {};
}

/// What EMD of Berkeley keeps in attributes of a group. @return volts
std::optional<double> voltage_attribute(const File& file, ScanDescription& scan) {
  if (!file.has("microscope")) return {};
  for (const char* name : {"voltage", "accelerating_voltage", "high_tension", "beam_energy"}) try {
      const auto value = file.number_attribute("microscope", name);
      if (value && *value > 0) return state_voltage({text("microscope, ", name), *value, ""}, scan);
    } catch (const InputError&) {  // a text
    }
  return {};
}

std::optional<ScanDescription> describe_emd(const File& file) {
  ScanDescription scan;
  scan.patterns = find_patterns(file);
  if (scan.patterns.empty()) return {};
  const std::string group = parent(scan.patterns);
  scan.what = file.has(group + "/dim0") || scan.patterns.starts_with("4DSTEM_experiment/")
                  ? "EMD file of py4DSTEM"
                  : "EMD file";
  const auto voltage =
      find_number(file, {"microscope/voltage", "4DSTEM_experiment/metadata/microscope/voltage"});
  std::optional<double> voltage_V;
  if (voltage && voltage->value > 0) voltage_V = state_voltage(*voltage, scan);
  if (!voltage_V) voltage_V = voltage_attribute(file, scan);
  const auto scan_step = calibration(file, "R_pixel");
  if (scan_step && metres_per(scan_step->unit) > 0)
    state_raster(scan_step, scan_step, scan);
  else
    state_raster(axis_step(file, group, 0), axis_step(file, group, 1), scan);
  const auto angle = calibration(file, "Q_pixel");
  state_detector(angle && angle->unit != "pixels" ? angle : axis_step(file, group, 2), voltage_V,
                 scan);
  return scan;
}

}  // namespace

ScanFormat emd_scans() {
  return described<describe_emd>("emd");
}

}  // namespace tessera::io

// EMD files: py4DSTEM's and others of emdfile (emd_group_type "array", axes dim0 ...), and
// Berkeley's (emd_group_type 1, axes dim1 ...).

#include <cmath>
#include <cstdio>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/geometry/wavelength.hpp"

#include "described_formats.hpp"
#include "file_facts.hpp"

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
  } catch (const InputError&) {
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

/// What it comes to at usual voltages, of a detector that is calibrated in inverse lengths.
void state_inverse_length(const Fact& step, double per_metre, ScanDescription& scan) {
  const auto at = [&](double voltage_V) {
    char words[64];
    std::snprintf(words, sizeof words, "%.5g at %g kV",
                  per_metre * geometry::electron_wavelength_m(voltage_V), voltage_V / 1e3);
    return std::string(words);
  };
  scan.statements.push_back({"experiment.detector_pixel_rad", "",
                             text(step.name, ": ", number(step.value), ' ', step.unit,
                                  " times the wavelength: ", at(80e3), ", ", at(120e3), ", ",
                                  at(200e3), ", ", at(300e3))});
}

void state_detector(const std::optional<Fact>& step, ScanDescription& scan) {
  if (!step || step->value <= 0) return;
  if (const double radians = radians_per(step->unit); radians > 0)
    scan.statements.push_back({"experiment.detector_pixel_rad", number(step->value * radians),
                               text(step->name, ": ", number(step->value), ' ', step->unit)});
  for (const auto& [words, per_metre] : {std::pair{"A^-1", 1e10},
                                         {"1/A", 1e10},
                                         {"Å^-1", 1e10},
                                         {"[1/A]", 1e10},
                                         {"nm^-1", 1e9},
                                         {"1/nm", 1e9},
                                         {"[1/n_m]", 1e9},
                                         {"1/m", 1.0}})
    if (step->unit == words) state_inverse_length(*step, step->value * per_metre, scan);
}

void state_raster(const std::optional<Fact>& y, const std::optional<Fact>& x,
                  ScanDescription& scan) {
  if (!y || !x || metres_per(y->unit) == 0 || metres_per(x->unit) == 0) return;
  scan.statements.push_back(
      {"data.raster_step_m",
       number_pair(y->value * metres_per(y->unit), x->value * metres_per(x->unit)),
       text(y->name, ", ", x->name, ": ", number(y->value), ' ', y->unit)});
}

}  // namespace

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
  if (voltage && voltage->value > 0)
    scan.statements.push_back(
        {"experiment.voltage_V",
         number(voltage->value < 2000 ? 1e3 * voltage->value : voltage->value), voltage->name});
  const auto scan_step = calibration(file, "R_pixel");
  if (scan_step && metres_per(scan_step->unit) > 0)
    state_raster(scan_step, scan_step, scan);
  else
    state_raster(axis_step(file, group, 0), axis_step(file, group, 1), scan);
  const auto angle = calibration(file, "Q_pixel");
  state_detector(angle && angle->unit != "pixels" ? angle : axis_step(file, group, 2), scan);
  return scan;
}

}  // namespace tessera::io

// Pairs of files of Ptychodus and Pty-Chi: patterns "dp" in one, positions, probe and what is known
// of the experiment in the other.

#include <filesystem>

#include "tessera/base/text.hpp"
#include "tessera/geometry/wavelength.hpp"

#include "described_formats.hpp"
#include "file_facts.hpp"
#include "hdf5_handle.hpp"

namespace tessera::io {
namespace {

/// The file beside this one that is named alike, with "para" in the place of "dp", or the only one
/// that holds positions.
std::string parameters_beside(const std::string& path) {
  const std::filesystem::path patterns(path);
  std::string name = patterns.filename().string();
  if (const std::size_t at = name.rfind("dp"); at != std::string::npos)
    if (const auto beside = patterns.parent_path() / name.replace(at, 2, "para");
        std::filesystem::exists(beside))
      return beside.string();
  return "";
}

/// The pairs of PtychoShelves' descendants: positions ppY and ppX, metres.
void state_foldslice(const File& file, ScanDescription& scan) {
  scan.what += " with \"" + std::filesystem::path(file.path()).filename().string() + '"';
  scan.positions = "ppY, ppX";
  scan.positions_file = file.path();
  state_wavelength(find_number(file, {"lambda"}), "m", scan);
}

void state_parameters(const std::string& path, const Extents& patterns, ScanDescription& scan) {
  if (!is_hdf5(path)) return;
  const File file = File::open(path);
  if (file.has("ppY") && file.has("ppX")) return state_foldslice(file, scan);
  if (!file.has("probe_position_y_m") || !file.has("probe_position_x_m")) return;
  scan.what += " with \"" + std::filesystem::path(path).filename().string() + '"';
  scan.positions = "probe_position_y_m, probe_position_x_m";
  scan.positions_file = path;
  if (file.has("probe")) {
    scan.probe = "probe";
    scan.probe_file = path;
  }
  const auto attribute = [&](const char* name) -> std::optional<Fact> {
    const auto value = file.number_attribute("/", name);
    return value ? std::optional(Fact{name, *value, ""}) : std::nullopt;
  };
  const auto energy = attribute("probe_energy_eV");
  const auto distance = attribute("detector_object_distance_m");
  state_energy(energy, "eV", scan);
  state_length("experiment.distance_m", distance, "m", scan);
  const auto object_pixel =
      file.has("object") ? file.number_attribute("object", "pixel_height_m") : std::nullopt;
  if (energy && energy->value > 0 && distance && object_pixel && *object_pixel > 0)
    scan.statements.push_back(
        {"experiment.detector_pixel_m",
         number(geometry::photon_wavelength_m(energy->value) * distance->value /
                (static_cast<double>(patterns.back()) * *object_pixel)),
         text("from the object's pixel_height_m = ", number(*object_pixel))});
}

std::optional<ScanDescription> describe_ptychodus(const File& file) {
  if (first_dataset(file, {"dp"}).empty()) return {};
  ScanDescription scan;
  scan.what = "Ptychodus (Pty-Chi) diffraction file";
  scan.patterns = "dp";
  const std::string parameters = parameters_beside(file.path());
  if (!parameters.empty()) state_parameters(parameters, file.info("dp").extents, scan);
  if (scan.positions.empty())
    scan.warnings.emplace_back(
        "no file of parameters is beside it (\"..._para.hdf5\"): give data.positions_file");
  return scan;
}

}  // namespace

ScanFormat ptychodus_scans() {
  return described<describe_ptychodus>("ptychodus");
}

}  // namespace tessera::io

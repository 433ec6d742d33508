// Master files of DECTRIS detectors: NeXus (NXmx) with links to the files of the frames.

#include <algorithm>
#include <array>
#include <cmath>

#include "tessera/base/text.hpp"

#include "dataset_series.hpp"
#include "described_formats.hpp"
#include "file_facts.hpp"

namespace tessera::io {
namespace {

/// No X-ray is as short.
bool is_of_electrons(double wavelength_m) {
  return wavelength_m > 0 && wavelength_m < 6e-12;
}

/// Cameras for electrons: ARINA, ELA, QUADRO, SINGLA.
bool is_for_electrons(const File& file, double wavelength_m) {
  if (is_of_electrons(wavelength_m)) return true;
  const std::string name = first_dataset(file, {"entry/instrument/detector/description"});
  if (name.empty() || file.info(name).type != ElementType::text) return false;
  const std::string words = file.read_text(name);
  return std::ranges::any_of(
      std::array{"ARINA", "ELA", "QUADRO", "SINGLA"},
      [&](const char* camera) { return words.find(camera) != std::string::npos; });
}

/// The voltage that gives electrons this wavelength (the inverse of electron_wavelength_m).
double voltage_V(double wavelength_m) {
  constexpr double planck_light_eV_m = 1.239841984e-6;
  constexpr double rest_energy_eV = 510998.95;
  return std::hypot(planck_light_eV_m / wavelength_m, rest_energy_eV) - rest_energy_eV;
}

void state_beam(const File& file, ScanDescription& scan) {
  const auto energy =
      find_number(file, {"entry/instrument/beam/incident_energy", "entry/instrument/beam/energy",
                         "entry/instrument/detector/detectorSpecific/incident_energy",
                         "entry/instrument/detector/detectorSpecific/photon_energy"});
  const auto wavelength = find_number(file, {"entry/instrument/beam/incident_wavelength",
                                             "entry/instrument/monochromator/wavelength"});
  const double wavelength_m =
      wavelength
          ? wavelength->value * metres_per(wavelength->unit.empty() ? "angstrom" : wavelength->unit)
          : 0;
  if (is_for_electrons(file, wavelength_m)) {
    scan.what += " of a camera for electrons";
    if (is_of_electrons(wavelength_m))
      scan.statements.push_back({"experiment.voltage_V",
                                 number(std::round(voltage_V(wavelength_m))),
                                 text(wavelength->name, ": ", number(wavelength_m), " m")});
    else if (energy && energy->value > 1000)
      scan.statements.push_back({"experiment.voltage_V", number(energy->value), energy->name});
    return;
  }
  if (energy)
    state_energy(energy, "eV", scan);
  else
    state_wavelength(wavelength, "angstrom", scan);
  state_length("experiment.distance_m",
               find_number(file, {"entry/instrument/detector/detector_distance",
                                  "entry/instrument/detector/distance"}),
               "m", scan);
  state_length("experiment.detector_pixel_m",
               find_number(file, {"entry/instrument/detector/x_pixel_size"}), "m", scan);
}

/// Beyond this rate counts are not to be trusted; damaged pixels hold the type's greatest value.
void state_saturation(const File& file, ScanDescription& scan) {
  const auto cutoff = find_number(
      file, {"entry/instrument/detector/detectorSpecific/countrate_correction_count_cutoff",
             "entry/instrument/detector/saturation_value"});
  if (cutoff && cutoff->value > 1 && cutoff->value < 1e10)
    scan.statements.push_back(
        {"data.saturation_counts", number(cutoff->value + 1), cutoff->name + " + 1"});
}

}  // namespace

std::optional<ScanDescription> describe_dectris(const File& file) {
  if (!file.has("entry/instrument/detector")) return {};
  const bool has_parts =
      std::ranges::any_of(file.members("entry/data"),
                          [](const std::string& name) { return name.starts_with("data_"); });
  const std::string own = first_dataset(file, {"entry/data/data"});
  if (!has_parts && own.empty()) return {};
  ScanDescription scan;
  scan.what = "DECTRIS master file";
  scan.patterns = own.empty() ? "entry/data/data_*" : own;
  scan.bad_pixels = first_dataset(file, {"entry/instrument/detector/detectorSpecific/pixel_mask",
                                         "entry/instrument/detector/pixel_mask"});
  if (!scan.bad_pixels.empty()) {
    const Extents mask = file.info(scan.bad_pixels).extents;
    const Extents frames = series_info(file, scan.patterns).extents;
    if (mask.size() != 2 || frames.size() < 3 || mask[0] != frames[frames.size() - 2] ||
        mask[1] != frames.back()) {
      scan.warnings.push_back(
          text(scan.bad_pixels, " is not of the frames' shape and is left out"));
      scan.bad_pixels.clear();
    }
  }
  state_beam(file, scan);
  state_saturation(file, scan);
  return scan;
}

}  // namespace tessera::io

// Master files of DECTRIS detectors: NeXus (NXmx) with links to the files of the frames.

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "tessera/base/text.hpp"

#include "dataset_series.hpp"
#include "described_formats.hpp"
#include "file_facts.hpp"
#include "microscope_file.hpp"

namespace tessera::io {
namespace {

/// No X-ray is as short.
bool is_of_electrons(double wavelength_m) {
  return wavelength_m > 0 && wavelength_m < 6e-12;
}

/// Cameras for electrons: ARINA, ELA, QUADRO, SINGLA; of others, what is set to no energy, or to
/// more than photons of a beamline have.
bool is_for_electrons(const File& file, double wavelength_m, double energy_eV) {
  if (is_of_electrons(wavelength_m) || energy_eV >= 59e3) return true;
  if (wavelength_m <= 0 && energy_eV <= 0) return true;  // beamlines always say theirs
  std::string words;
  for (const char* name :
       {"entry/instrument/detector/description", "entry/instrument/detector/type"})
    if (!first_dataset(file, {name}).empty() && file.info(name).type == ElementType::text)
      words += file.read_text(name) + ' ';
  std::ranges::transform(words, words.begin(), [](unsigned char c) { return std::toupper(c); });
  std::ranges::replace_if(words, [](unsigned char c) { return !std::isalnum(c); }, ' ');
  return std::ranges::any_of(
      std::array{" ARINA ", " ELA ", " QUADRO ", " SINGLA "},
      [&](const char* camera) { return (' ' + words).find(camera) != std::string::npos; });
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
  const double energy_eV =
      energy ? energy->value * electronvolts_per(energy->unit.empty() ? "eV" : energy->unit) : 0;
  if (is_for_electrons(file, wavelength_m, energy_eV)) {
    scan.what += " of a camera for electrons";
    // A wavelength beside it is that of photons of this energy.
    if (energy_eV >= 10e3)
      scan.statements.push_back({"experiment.voltage_V", number(energy_eV), energy->name});
    else if (is_of_electrons(wavelength_m))
      scan.statements.push_back({"experiment.voltage_V",
                                 number(std::round(voltage_V(wavelength_m))),
                                 text(wavelength->name, ": ", number(wavelength_m), " m")});
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
void state_saturation(const File& file, ElementType type, ScanDescription& scan) {
  const double greatest = type == ElementType::u8    ? 0xff
                          : type == ElementType::u16 ? 0xffff
                                                     : double{0xffffffff};
  const auto cutoff = find_number(
      file, {"entry/instrument/detector/detectorSpecific/countrate_correction_count_cutoff",
             "entry/instrument/detector/saturation_value"});
  if (cutoff && cutoff->value > 1)
    scan.statements.push_back(
        {"data.saturation_counts", number(std::min(cutoff->value + 1, greatest)), cutoff->name});
}

/// A trigger for each row of the scan, as scan generators give them.
void state_raster(const File& file, std::int64_t n_frames, ScanDescription& scan) {
  const auto rows = find_number(file, {"entry/instrument/detector/detectorSpecific/ntrigger"});
  const auto columns = find_number(file, {"entry/instrument/detector/detectorSpecific/nimages"});
  if (!rows || !columns || rows->value < 2 || columns->value < 2 ||
      std::llround(rows->value * columns->value) != n_frames)
    return;
  scan.statements.push_back({"data.raster_shape", number_pair(rows->value, columns->value),
                             "detectorSpecific/ntrigger and nimages"});
}

/// Bad pixels of the frames' shape; binned frames have none.
void place_mask(const File& file, const Extents& frames, ScanDescription& scan) {
  const std::string mask =
      first_dataset(file, {"entry/instrument/detector/detectorSpecific/pixel_mask",
                           "entry/instrument/detector/pixel_mask"});
  if (mask.empty()) return;
  if (file.info(mask).extents == Extents(frames.end() - 2, frames.end()))
    scan.bad_pixels = mask;
  else
    scan.warnings.push_back(text(mask, " is not of the frames' shape and is left out"));
}

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
  const Extents frames = series_info(file, scan.patterns).extents;
  if (frames.size() >= 3) {
    place_mask(file, frames, scan);
    if (frames.size() == 3) state_microscope_beside(file.path(), frames[0], scan);
    if (frames.size() == 3) state_raster(file, frames[0], scan);
    // A beamline's own file (NXptycho, NXmx) keeps them beside its frames.
    if (frames.size() == 3 && !own.empty()) guess_positions(file, frames[0], scan);
  }
  state_words("title", file, {"entry/title"}, scan);
  state_words("sample", file, {"entry/sample/name"}, scan);
  state_words("instrument", file,
              {"entry/instrument/name", "entry/instrument/detector/description"}, scan);
  state_words(
      "measured_at", file,
      {"entry/start_time", "entry/instrument/detector/detectorSpecific/data_collection_date"},
      scan);
  state_beam(file, scan);
  state_saturation(file, series_info(file, scan.patterns).type, scan);
  return scan;
}

}  // namespace

ScanFormat dectris_scans() {
  return described<describe_dectris>("dectris");
}

}  // namespace tessera::io

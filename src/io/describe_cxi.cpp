// Coherent X-ray Imaging files (Maia 2012, Nature Methods 9, 854; format 1.6), and NeXus'
// NXcxi_ptycho, which has the same names.

#include <array>
#include <cmath>

#include "tessera/base/text.hpp"

#include "described_formats.hpp"
#include "file_facts.hpp"

namespace tessera::io {
namespace {

/// Mask bits (CXI 1.6, table of pixel masks) that do not spoil a pixel's counts: in a peak,
/// artefact corrected, peak for the hit finder, photon background corrected.
constexpr std::uint32_t harmless_bits = 0x20 | 0x800 | 0x2000 | 0x4000;

const std::string detector = "entry_1/instrument_1/detector_1/";

/// The first dataset "entry_1/sample_*/geometry*/translation" (pyrost: translations): writers
/// differ in their names.
std::string sample_translation(const File& file) {
  for (const std::string& sample : file.members("entry_1")) {
    if (!sample.starts_with("sample")) continue;
    for (const std::string& geometry : file.members("entry_1/" + sample)) {
      const std::string name = text("entry_1/", sample, '/', geometry, "/translation");
      const std::string plural = name + 's';
      const std::string found = first_dataset(file, {name.c_str(), plural.c_str()});
      if (geometry.starts_with("geometry") && !found.empty()) return found;
    }
  }
  return "";
}

/// Where the rows (first, slow axis) and the columns of the detector run, x, y, z, metres a pixel;
/// of many frames those of the first. Empty: not said.
std::vector<double> basis_vectors(const File& file) {
  const std::string name = first_dataset(file, {"entry_1/instrument_1/detector_1/basis_vectors"});
  const Extents extents = name.empty() ? Extents{} : file.info(name).extents;
  if (extents.size() < 2 || extents.size() > 3) return {};
  const Extents one(extents.end() - 2, extents.end());
  if (one != Extents{2, 3} && one != Extents{3, 2}) return {};
  std::vector<double> v = file.read_doubles(name);
  v.resize(6);
  if (one[0] == 3) v = {v[0], v[2], v[4], v[1], v[3], v[5]};  // the vectors are columns
  return v;
}

/// CXI's x and y run left and up, seen along the beam; a detector's columns and rows right and
/// down. Translations are the sample's, so the beam moves the other way over it: with the usual
/// basis vectors, (0, -1, 0) and (-1, 0, 0), both turns cancel.
void place_positions(const File& file, ScanDescription& scan) {
  scan.positions = first_dataset(file, {"entry_1/data_1/translation"});
  if (scan.positions.empty()) scan.positions = sample_translation(file);
  if (scan.positions.empty())
    scan.positions = first_dataset(
        file, {"entry_1/instrument_1/detector_1/translation", "entry_1/image_1/translation"});
  if (scan.positions.empty()) return;
  scan.positions_columns = {1, 0};
  scan.positions_scale = scale_of_positions(file, scan.positions, scan.positions);
  const std::vector<double> v = basis_vectors(file);
  if (v.empty()) return;
  const bool rows_run_along_x = std::abs(v[0]) > std::abs(v[1]);
  if (rows_run_along_x) {
    scan.positions_columns = {0, 1};
    scan.warnings.push_back(text(detector,
                                 "basis_vectors says that the detector stands on its side, its "
                                 "rows along x; data.positions_columns = [0, 1] follows it"));
  }
  const bool row_is_turned = (rows_run_along_x ? v[0] : v[1]) > 0;
  const bool column_is_turned = (rows_run_along_x ? v[4] : v[3]) > 0;
  if (row_is_turned) scan.positions_scale.y *= -1;
  if (column_is_turned) scan.positions_scale.x *= -1;
  if (row_is_turned || column_is_turned)
    scan.warnings.push_back(text(detector, "basis_vectors says that ",
                                 row_is_turned ? "rows run up" : "",
                                 row_is_turned && column_is_turned ? " and " : "",
                                 column_is_turned ? "columns run left" : "",
                                 "; data.positions_scale turns the positions accordingly"));
}

void state_photons(const File& file, ScanDescription& scan) {
  const std::size_t n_before = scan.statements.size();
  state_energy(find_number(file, {"entry_1/instrument_1/beam_1/incident_beam_energy",
                                  "entry_1/instrument_1/beam_1/incident_energy",
                                  "entry_1/instrument_1/beam_1/energy",
                                  "entry_1/instrument_1/source_1/energy",
                                  "entry_1/sample_1/beam_1/incident_energy"}),
               "J", scan);
  if (scan.statements.size() == n_before)
    state_wavelength(find_number(file, {"entry_1/instrument_1/beam_1/incident_wavelength",
                                        "entry_1/instrument_1/beam_1/wavelength",
                                        "entry_1/instrument_1/source_1/wavelength"}),
                     "m", scan);
}

void state_pixel(const File& file, ScanDescription& scan) {
  const auto x = find_number(file, {"entry_1/instrument_1/detector_1/x_pixel_size"});
  const auto y = find_number(file, {"entry_1/instrument_1/detector_1/y_pixel_size"});
  const std::vector<double> basis = basis_vectors(file);
  std::optional<Fact> pixel = x ? x : y;
  if (!pixel && !basis.empty())
    pixel = Fact{detector + "basis_vectors", std::hypot(basis[0], basis[1], basis[2]), "m"};
  state_length("experiment.detector_pixel_m", pixel, "m", scan);
  if (x && y && std::abs(x->value - y->value) > 1e-3 * std::abs(x->value))
    scan.warnings.push_back(text("detector pixels are ", number(y->value), " high and ",
                                 number(x->value), " wide; they must be square"));
}

void state_distances(const File& file, ScanDescription& scan) {
  auto distance = find_number(file, {"entry_1/instrument_1/detector_1/distance"});
  const std::string corner =
      first_dataset(file, {"entry_1/instrument_1/detector_1/corner_position",
                           "entry_1/instrument_1/detector_1/corner_positions"});
  if (!distance && !corner.empty())
    if (const auto at = file.read_doubles(corner); at.size() >= 3)
      distance = Fact{corner + "[2]", at[2], "m"};
  state_length("experiment.distance_m", distance, "m", scan);
  // NeXus counts against the beam; what speckle-tracking found stands where it put it.
  state_length(
      "experiment.source_distance_m",
      find_number(file, {"entry_1/instrument_1/source_1/distance",
                         "entry_1/instrument_1/focus_1/distance", "speckle_tracking/defocus"}),
      "m", scan);
}

std::optional<ScanDescription> describe_cxi(const File& file) {
  ScanDescription scan;
  scan.patterns = first_dataset(
      file,
      {"entry_1/data_1/data", "entry_1/instrument_1/detector_1/data", "entry_1/image_1/data"});
  if (scan.patterns.empty()) return {};
  scan.what = "CXI file";
  if (const auto version = find_number(file, {"cxi_version"}))
    scan.what = text("CXI file, version ", version->value / 100);
  place_positions(file, scan);
  scan.bad_pixels = first_dataset(
      file, {"entry_1/instrument_1/detector_1/mask", "entry_1/instrument_1/detector_1/pixel_mask"});
  scan.harmless_bits = harmless_bits;
  // speckle-tracking and pyrost write a mask of their own, beside the detector's.
  scan.valid_pixels = first_dataset(file, {"speckle_tracking/mask", "mask_maker/mask"});
  if (!scan.valid_pixels.empty()) scan.bad_pixels.clear();
  scan.background = first_dataset(
      file, {"entry_1/instrument_1/detector_1/dark", "entry_1/instrument_1/detector_1/data_dark",
             "entry_1/instrument_1/detector_1/background"});
  // NeXus' source_1/probe is a word: what kind of radiation it is.
  for (const char* name :
       {"entry_1/instrument_1/source_1/probe", "entry_1/instrument_1/detector_1/probe",
        "entry_1/instrument_1/source_1/illumination"})
    if (scan.probe.empty() && !first_dataset(file, {name}).empty() &&
        file.info(name).extents.size() >= 2)
      scan.probe = name;
  scan.is_cornered = file.number_attribute(scan.patterns, "is_fft_shifted").value_or(0) == 1;
  state_words("title", file, {"entry_1/title", "title"}, scan);
  state_words("sample", file, {"entry_1/sample_1/name", "entry_1/sample_1/description"}, scan);
  state_words("instrument", file, {"entry_1/instrument_1/name"}, scan);
  state_words("measured_at", file, {"entry_1/start_time", "entry_1/experiment_start_time"}, scan);
  state_photons(file, scan);
  state_distances(file, scan);
  state_pixel(file, scan);
  return scan;
}

}  // namespace

ScanFormat cxi_scans() {
  return described<describe_cxi>("cxi");
}

}  // namespace tessera::io

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

/// CXI's x and y run left and up, seen along the beam; a detector's columns and rows right and
/// down. Translations are the sample's, so the beam moves the other way over it: with the usual
/// basis vectors both turns cancel.
void place_positions(const File& file, ScanDescription& scan) {
  scan.positions =
      first_dataset(file, {"entry_1/data_1/translation", "entry_1/sample_1/geometry_1/translation",
                           "entry_1/instrument_1/detector_1/translation"});
  if (scan.positions.empty()) return;
  scan.positions_columns = {1, 0};
  const std::string basis = first_dataset(file, {"entry_1/instrument_1/detector_1/basis_vectors"});
  const Extents extents = basis.empty() ? Extents{} : file.info(basis).extents;
  if (extents != Extents{2, 3} && extents != Extents{3, 2}) return;
  std::vector<double> v = file.read_doubles(basis);
  if (extents[0] == 3) v = {v[0], v[2], v[4], v[1], v[3], v[5]};  // the vectors are columns
  const bool first_is_row = std::abs(v[1]) > std::abs(v[0]);
  const double row = first_is_row ? v[1] : v[4];
  const double column = first_is_row ? v[3] : v[0];
  if (row > 0) scan.positions_scale.y = -1;
  if (column > 0) scan.positions_scale.x = -1;
  if (row > 0 || column > 0)
    scan.warnings.push_back(text(basis, " says that ", row > 0 ? "rows run up" : "",
                                 row > 0 && column > 0 ? " and " : "",
                                 column > 0 ? "columns run left" : "",
                                 "; data.positions_scale turns the positions accordingly"));
}

void state_experiment(const File& file, ScanDescription& scan) {
  const auto energy = find_number(
      file, {"entry_1/instrument_1/beam_1/incident_beam_energy",
             "entry_1/instrument_1/beam_1/energy", "entry_1/instrument_1/source_1/energy"});
  state_energy(energy, "J", scan);
  if (!energy)
    state_wavelength(find_number(file, {"entry_1/instrument_1/beam_1/incident_wavelength",
                                        "entry_1/instrument_1/source_1/wavelength"}),
                     "m", scan);
  auto distance = find_number(file, {"entry_1/instrument_1/detector_1/distance"});
  const std::string corner =
      first_dataset(file, {"entry_1/instrument_1/detector_1/corner_position",
                           "entry_1/instrument_1/detector_1/corner_positions"});
  if (!distance && !corner.empty())
    if (const auto at = file.read_doubles(corner); at.size() == 3)
      distance = Fact{corner + "[2]", at[2], "m"};
  state_length("experiment.distance_m", distance, "m", scan);
  const auto x = find_number(file, {"entry_1/instrument_1/detector_1/x_pixel_size"});
  const auto y = find_number(file, {"entry_1/instrument_1/detector_1/y_pixel_size"});
  state_length("experiment.detector_pixel_m", x ? x : y, "m", scan);
  if (x && y && std::abs(x->value - y->value) > 1e-3 * std::abs(x->value))
    scan.warnings.push_back(text("detector pixels are ", number(y->value), " high and ",
                                 number(x->value), " wide; they must be square"));
}

}  // namespace

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
  scan.background = first_dataset(
      file, {"entry_1/instrument_1/detector_1/dark", "entry_1/instrument_1/detector_1/background"});
  scan.probe = first_dataset(
      file, {"entry_1/instrument_1/source_1/probe", "entry_1/instrument_1/detector_1/probe",
             "entry_1/instrument_1/source_1/illumination"});
  scan.is_cornered = file.number_attribute(scan.patterns, "is_fft_shifted").value_or(0) == 1;
  state_experiment(file, scan);
  return scan;
}

}  // namespace tessera::io

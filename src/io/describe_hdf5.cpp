// Any HDF5 file with patterns, guessed from names and shapes.

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <set>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "described_formats.hpp"
#include "file_facts.hpp"
#include "hdf5_slab.hpp"

namespace tessera::io {
namespace {

struct Found {
  std::string name;
  std::string leaf;  ///< its last word, in lower case
  DatasetInfo info;
};

std::string in_lower_case(std::string words) {
  std::ranges::transform(words, words.begin(), [](unsigned char c) { return std::tolower(c); });
  return words;
}

/// @param depth of groups to look into: links may lead back
void add_linked(const File& file, const std::string& name, int depth, std::vector<Found>& found) {
  try {
    found.push_back({name, in_lower_case(name.substr(name.rfind('/') + 1)), file.info(name)});
  } catch (const InputError&) {  // a group, or nowhere
    if (depth == 0) return;
    for (const std::string& member : file.members(name))
      add_linked(file, text(name, '/', member), depth - 1, found);
  }
}

/// What links lead to, in other files too, comes last.
std::vector<Found> all_datasets(const File& file) {
  const std::vector<std::string> own = file.names();
  std::vector<std::string> groups{""};
  std::vector<Found> found;
  for (const std::string& name : own) {
    const std::size_t n_before = found.size();
    add_linked(file, name, 0, found);
    if (found.size() == n_before) groups.push_back(name);
  }
  const std::set<std::string> is_own(own.begin(), own.end());
  constexpr int depth_of_links = 3;
  for (const std::string& group : groups)
    for (const std::string& member : file.members(group.empty() ? "/" : group)) {
      const std::string name = group.empty() ? member : text(group, '/', member);
      if (!is_own.contains(name)) add_linked(file, name, depth_of_links, found);
    }
  return found;
}

bool contains_any(const std::string& words, std::initializer_list<const char*> parts) {
  return std::ranges::any_of(
      parts, [&](const char* part) { return words.find(part) != std::string::npos; });
}

/// Spectra and the like are no patterns.
bool is_stack_of_images(const Found& found) {
  const Extents& extents = found.info.extents;
  return (extents.size() == 3 || extents.size() == 4) && is_real(found.info.type) &&
         std::min(extents.back(), extents[extents.size() - 2]) >= 8;
}

const Found* largest_stack(const std::vector<Found>& datasets) {
  const Found* largest = nullptr;
  for (const Found& found : datasets) {
    if (!is_stack_of_images(found)) continue;
    if (!largest || n_elements(found.info.extents) > n_elements(largest->info.extents))
      largest = &found;
  }
  return largest;
}

/// The dataset of as many numbers whose name differs in an x for a y: lab_sy and lab_sx.
const Found* partner_of(const Found& y, const std::vector<Found>& datasets) {
  for (std::size_t i = y.name.size() - y.leaf.size(); i < y.name.size(); ++i) {
    if (y.name[i] != 'y' && y.name[i] != 'Y') continue;
    std::string name = y.name;
    --name[i];
    for (const Found& found : datasets)
      if (found.name == name && is_real(found.info.type) &&
          n_elements(found.info.extents) == n_elements(y.info.extents))
        return &found;
  }
  return nullptr;
}

/// Two or three columns, or a column of y and one of x.
void find_positions(const File& file, const std::vector<Found>& datasets, std::int64_t n,
                    ScanDescription& scan) {
  const Found* y = nullptr;
  const Found* x = nullptr;
  for (const Found& found : datasets) {
    const Extents& extents = found.info.extents;
    // MATLAB's tables come with their columns first.
    const std::int64_t n_columns = extents.size() != 2 ? 0
                                   : extents[0] == n   ? extents[1]
                                   : extents[1] == n   ? extents[0]
                                                       : 0;
    const bool is_table = n_columns >= 2 && n_columns <= 3 && is_real(found.info.type);
    if (is_table && contains_any(found.leaf, {"pos", "translation", "coord", "scan", "point"})) {
      scan.positions = found.name;
      scan.positions_scale = scale_of_positions(file, found.name, found.name);
      if (n_columns == 3 || contains_any(found.leaf, {"xy", "x_y", "col_row"}))
        scan.positions_columns = {1, 0};
      return;
    }
    if (n_elements(extents) != n || !is_real(found.info.type)) continue;
    const Found* partner = partner_of(found, datasets);
    const bool names_place = contains_any(found.leaf, {"pos", "motor", "stage", "sample", "pp"});
    if (!partner || (y && !names_place)) continue;
    y = &found;
    x = partner;
    if (names_place) break;
  }
  if (!y) return;
  scan.positions = y->name + ", " + x->name;
  scan.positions_scale = scale_of_positions(file, y->name, x->name);
}

void find_images(const std::vector<Found>& datasets, const Extents& patterns,
                 ScanDescription& scan) {
  const Extents image(patterns.end() - 2, patterns.end());
  for (const Found& found : datasets) {
    const Extents& extents = found.info.extents;
    if (is_complex(found.info.type) && contains_any(found.leaf, {"probe", "illumination"}) &&
        extents.size() >= 2 && scan.probe.empty() &&
        Extents(extents.end() - 2, extents.end()) == image)
      scan.probe = found.name;
    if (extents != image || !is_real(found.info.type)) continue;
    if (contains_any(found.leaf, {"bad", "pixel_mask"}))
      scan.bad_pixels = found.name;
    else if (contains_any(found.leaf, {"valid", "mask"}))
      scan.valid_pixels = found.name;
    if (contains_any(found.leaf, {"dark", "background"})) scan.background = found.name;
  }
  if (!scan.bad_pixels.empty()) scan.valid_pixels.clear();
}

/// A dataset whose last word it is, or an attribute of the file's.
std::optional<Fact> fact(const File& file, const std::vector<Found>& datasets,
                         std::initializer_list<const char*> leaves) {
  for (const char* leaf : leaves) {
    for (const Found& found : datasets)
      if (found.leaf == leaf)
        if (const auto number = find_number(file, {found.name.c_str()})) return number;
    try {
      if (const auto value = file.number_attribute("/", leaf))
        return Fact{text("attribute ", leaf), *value, ""};
    } catch (const InputError&) {  // not one number
    }
  }
  return {};
}

void state_experiment(const File& file, const std::vector<Found>& datasets, ScanDescription& scan) {
  const auto voltage = fact(file, datasets, {"voltage_V", "voltage_v", "accelerating_voltage"});
  if (voltage && voltage->value >= 1000)
    scan.statements.push_back({"experiment.voltage_V", number(voltage->value), voltage->name});
  else if (const auto energy = fact(file, datasets,
                                    {"energy_eV", "energy_ev", "photon_energy_ev", "photon_energy",
                                     "incident_energy", "energy"}))
    state_energy(energy, "eV", scan);
  else
    state_wavelength(fact(file, datasets, {"wavelength_m", "wavelength", "lambda"}), "m", scan);
  state_length(
      "experiment.distance_m",
      fact(file, datasets, {"distance_m", "detector_distance", "det_distance", "distance", "z"}),
      "m", scan);
  state_length("experiment.detector_pixel_m",
               fact(file, datasets,
                    {"detector_pixel_m", "x_pixel_size", "det_pixel_size", "detector_pixel_size",
                     "pixel_size", "psize"}),
               "m", scan);
  if (const auto angle = fact(file, datasets, {"detector_pixel_rad"}))
    scan.statements.push_back({"experiment.detector_pixel_rad", number(angle->value), angle->name});
}

/// One of the files of frames that a DECTRIS master links to knows nothing but its frames.
void warn_of_master(const File& file, ScanDescription& scan) {
  const std::string& path = file.path();
  const std::size_t at = path.rfind("_data_");
  if (at == std::string::npos) return;
  const std::string master = path.substr(0, at) + "_master.h5";
  if (std::filesystem::exists(master))
    scan.warnings.push_back(
        text("the file holds frames alone, some of a scan's; the whole scan is \"", master,
             "\": tessera init that"));
}

/// MATLAB 7.3.
bool is_of_matlab(const File& file, const std::string& name) {
  try {
    return file.text_attribute(name, "MATLAB_class").has_value();
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace

void guess_positions(const File& file, std::int64_t n_positions, ScanDescription& scan) {
  find_positions(file, all_datasets(file), n_positions, scan);
}

std::optional<ScanDescription> describe_hdf5(const File& file) {
  const std::vector<Found> datasets = all_datasets(file);
  const Found* patterns = largest_stack(datasets);
  if (!patterns) return {};
  ScanDescription scan;
  scan.what = "HDF5 file of no known format: datasets are guessed from names and shapes";
  scan.patterns = patterns->name;
  const Extents& extents = patterns->info.extents;
  if (is_of_matlab(file, scan.patterns))
    scan.statements.push_back(
        {"data.transpose", "true", "MATLAB keeps columns where others keep rows"});
  find_positions(file, datasets, extents.size() == 4 ? extents[0] * extents[1] : extents[0], scan);
  find_images(datasets, extents, scan);
  state_experiment(file, datasets, scan);
  warn_of_master(file, scan);
  return scan;
}

}  // namespace tessera::io

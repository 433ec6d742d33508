// Formats of files with plain numbers: NumPy, Merlin's MIB, EMPAD.

#include <climits>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "array_file.hpp"
#include "file_facts.hpp"
#include "flat_scan.hpp"
#include "numpy_file.hpp"

namespace tessera::io {
namespace {

/// The first array of an archive that is a stack of patterns, unless the source names one.
FlatPatterns numpy_patterns(const ScanSource& source) {
  const NumpyArray array = find_numpy_array(source.path, source.patterns);
  const Extents& extents = array.extents;
  const std::size_t n_axes = extents.size();
  if (n_axes != 3 && n_axes != 4)
    throw InputError(text("shape ", shape_text(extents),
                          "; it must be (position, y, x) or (scan_y, scan_x, y, x)"));
  std::int64_t n = 1;
  for (std::size_t i = 0; i < n_axes; ++i) {
    if (i + 2 < n_axes) n *= extents[i];
    if (extents[i] < 1 || extents[i] > INT_MAX || n > INT_MAX)
      throw InputError(text("shape ", shape_text(extents), " holds no or too many patterns"));
  }
  FlatPatterns flat{.path = source.path, .type = array.type, .first_byte = array.first_byte};
  flat.n_positions = static_cast<int>(n);
  if (n_axes == 4) flat.raster = {static_cast<int>(extents[0]), static_cast<int>(extents[1])};
  flat.shape = {static_cast<int>(extents[n_axes - 2]), static_cast<int>(extents[n_axes - 1])};
  return flat;
}

/// A frame's header, ASCII: MQ1, number of the frame, bytes of the header, chips, width, height,
/// type of the pixels, big endian (Merlin user manual, "Data file format").
FlatPatterns merlin_patterns(const ScanSource& source) {
  std::ifstream file(source.path, std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; words.size() < 7 && std::getline(file, word, ',');) words.push_back(word);
  const std::string type = words.size() < 7 ? "" : words[6].substr(0, 3);
  if (type != "U08" && type != "U16" && type != "U32")
    throw InputError(text('"', source.path, "\" holds pixels of type '", type,
                          "', Merlin's raw mode; convert it to U08, U16 or U32, as with "
                          "rsciio.quantumdetector"));
  const auto field = [&](std::size_t i) { return std::atoi(words[i].c_str()); };
  FlatPatterns flat{.path = source.path, .type = {'u', std::atoi(type.c_str() + 1) / 8, true}};
  flat.first_byte = field(2);
  flat.bytes_between = flat.first_byte;
  flat.shape = {field(5), field(4)};
  const std::int64_t frame = flat.first_byte + flat.shape.size() * flat.type.bytes;
  const auto n_bytes = static_cast<std::int64_t>(std::filesystem::file_size(source.path));
  if (flat.shape.size() <= 0 || flat.first_byte <= 0 || n_bytes < frame ||
      n_bytes / frame > INT_MAX)
    throw InputError(text('"', source.path, "\" holds no whole frame; copy or write it again"));
  if (n_bytes % frame != 0)
    throw InputError(text('"', source.path, "\" is cut short, at ", n_bytes, " bytes in frames of ",
                          frame, "; copy or write it again"));
  flat.n_positions = static_cast<int>(n_bytes / frame);
  return flat;
}

std::string whole_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string words(1 << 16, '\0');
  file.read(words.data(), std::ssize(words));
  words.resize(static_cast<std::size_t>(file.gcount()));
  return words;
}

/// What stands behind `before`, until `end`; empty if it is not there.
std::string between(const std::string& words, const std::string& before, char end) {
  const std::size_t at = words.find(before);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + before.size();
  return words.substr(begin, words.find(end, begin) - begin);
}

bool is_empad(const std::string& path) {
  const std::string words = whole_text(path);
  return words.find('<') < 4 && words.find("<raw_file filename=\"") != std::string::npos;
}

/// Its XML names the raw file and the scan; a frame is 128 x 128 float32 with two rows of other
/// numbers behind (Tate et al. 2016, Microsc. Microanal. 22, 237).
FlatPatterns empad_patterns(const ScanSource& source) {
  const std::string words = whole_text(source.path);
  const std::string raw = between(words, "<raw_file filename=\"", '"');
  const auto size = [&](const std::string& axis) {
    const std::string resolution = between(words, "<scan_resolution_" + axis + ">", '<');
    return std::atoi(
        (resolution.empty() ? between(words, "<pix_" + axis + ">", '<') : resolution).c_str());
  };
  if (raw.empty() || size("x") < 1 || size("y") < 1)
    throw InputError(text('"', source.path,
                          "\" names no raw file or no scan size; it is not the XML of an EMPAD"));
  FlatPatterns flat{.path = (std::filesystem::path(source.path).parent_path() / raw).string(),
                    .type = {'f', 4}};
  flat.shape = {128, 128};
  flat.bytes_between = 2 * 128 * 4;
  flat.raster = {size("y"), size("x")};
  flat.n_positions = flat.raster[0] * flat.raster[1];
  return flat;
}

bool is_merlin(const std::string& path) {
  return whole_text(path).starts_with("MQ1,");
}

template <FlatPatterns (*patterns_of)(const ScanSource&)>
std::unique_ptr<ScanReader> open_flat(const ScanSource& source, const comm::Communicator*) {
  return open_flat_scan(patterns_of(source), source);
}

ScanDescription named(const std::string& what) {
  ScanDescription scan;
  scan.what = what;
  return scan;
}

std::optional<ScanDescription> describe_numpy(const std::string& path) {
  ScanDescription scan = named("NumPy file");
  if (!is_numpy_archive(path)) return scan;
  scan.what = "NumPy archive";
  for (const std::string& name : numpy_names(path)) {
    const Extents extents = find_numpy_array(path, name).extents;
    if (extents.size() == 3 || extents.size() == 4) scan.patterns = name;
    if (extents.size() == 2 && extents[1] == 2) scan.positions = name;
    if (name.find("mask") != std::string::npos) scan.valid_pixels = name;
  }
  return scan;
}

}  // namespace

ScanFormat numpy_scans() {
  return {"numpy", "a NumPy file",
          [](const ScanSource& source) {
            return is_numpy(source.path) || is_numpy_archive(source.path);
          },
          open_flat<numpy_patterns>, describe_numpy};
}

ScanFormat mib_scans() {
  return {"mib", "a Merlin MIB file",
          [](const ScanSource& source) { return is_merlin(source.path); },
          open_flat<merlin_patterns>,
          [](const std::string&) { return std::optional(named("Merlin MIB file")); }};
}

ScanFormat empad_scans() {
  return {"empad", "an EMPAD's XML file",
          [](const ScanSource& source) { return is_empad(source.path); }, open_flat<empad_patterns>,
          [](const std::string& path) {
            ScanDescription scan = named("EMPAD scan");
            const double voltage =
                std::atof(between(whole_text(path), "<high_voltage>", '<').c_str());
            if (voltage >= 1000)
              scan.statements.push_back({"experiment.voltage_V", number(voltage), "high_voltage"});
            return std::optional(scan);
          }};
}

}  // namespace tessera::io

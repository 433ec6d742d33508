// EMPAD's raw files with the XML beside them, of both generations (Tate et al. 2016, Microsc.
// Microanal. 22, 237; Philipp et al. 2022, Microsc. Microanal. 28, 425).

#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "electron_statements.hpp"
#include "flat_scan.hpp"
#include "marked_text.hpp"
#include "readable_file.hpp"

namespace tessera::io {
namespace {

namespace fs = std::filesystem;

constexpr Shape2 empad_shape{128, 128};
constexpr std::int64_t pixels_bytes = 128 * 128 * 4;
/// The first generation's frames have two rows of other numbers behind.
constexpr std::int64_t rows_behind_bytes = 2 * 128 * 4;

bool names_raw_file(const std::string& words) {
  return words.find('<') < 4 && (words.find("<raw_file filename=\"") != std::string::npos ||
                                 words.find("<type>EMPAD2</type>") != std::string::npos);
}

struct EmpadFiles {
  std::string raw;
  std::string words;  ///< of the XML; empty: there is none
  bool is_second = false;
  std::vector<int> named_raster = {};  ///< by the raw file's name, where there is no XML
};

std::string raw_name(const std::string& words) {
  const std::string named = between(words, "<raw_file filename=\"", "\"");
  return named.empty() ? element(element(words, "rawfile"), "filename") : named;
}

/// NAME_x128_y64.raw, whose size is that of so many frames.
EmpadFiles raw_file_alone(const std::string& path) {
  const std::string name = fs::path(path).stem().string();
  const std::size_t at = name.rfind("_x");
  int columns = 0;
  int rows = 0;
  if (at == std::string::npos || std::sscanf(name.c_str() + at, "_x%d_y%d", &columns, &rows) != 2 ||
      rows < 1 || columns < 1)
    return {};
  const std::int64_t n = std::int64_t{rows} * columns;
  const auto n_bytes = static_cast<std::int64_t>(fs::file_size(path));
  const bool is_second = n_bytes == n * pixels_bytes;
  if (!is_second && n_bytes != n * (pixels_bytes + rows_behind_bytes)) return {};
  return {path, "", is_second, {rows, columns}};
}

/// @param path of the XML, or of the raw file that an XML beside it names
EmpadFiles find_files(const std::string& path) {
  const auto with_words = [](std::string raw, std::string words) {
    const bool is_second = words.find("<type>EMPAD2</type>") != std::string::npos;
    return EmpadFiles{std::move(raw), std::move(words), is_second, {}};
  };
  const fs::path folder = fs::path(path).parent_path();
  if (std::string words = read_words(path); names_raw_file(words)) {
    const fs::path named = raw_name(words);
    // Its path may be that on the microscope's computer.
    const fs::path raw = fs::exists(folder / named) ? folder / named : folder / named.filename();
    return with_words(raw.string(), words);
  }
  if (fs::path(path).extension() != ".raw") return {};
  for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder)) {
    if (entry.path().extension() != ".xml") continue;
    const std::string words = read_words(entry.path().string());
    if (names_raw_file(words) && fs::path(raw_name(words)).filename() == fs::path(path).filename())
      return with_words(path, words);
  }
  return raw_file_alone(path);
}

/// Rows and columns; a series of one place has none.
std::vector<int> raster_of(const EmpadFiles& files) {
  const auto whole = [](const std::string& words) { return std::atoi(words.c_str()); };
  if (!files.named_raster.empty()) return files.named_raster;
  const std::string& words = files.words;
  int rows = 0;
  int columns = 0;
  if (files.is_second) {
    std::sscanf(element(between(words, "<scan>", "</scan>"), "shape").c_str(), "(%d ,%d", &rows,
                &columns);
    return {rows, columns};
  }
  rows = whole(element(words, "pix_y"));
  columns = whole(element(words, "pix_x"));
  if (rows > 0 && columns > 0) return {rows, columns};
  // What was searched with comes first.
  std::string scan = between(words, "<scan_parameters mode=\"acquire\">", "</scan_parameters>");
  if (scan.empty()) scan = words;
  return {whole(element(scan, "scan_resolution_y")), whole(element(scan, "scan_resolution_x"))};
}

[[noreturn]] void refuse_words_of_second(const std::string& raw) {
  throw InputError(text(
      '"', raw,
      "\" holds the EMPAD-G2's own words, which want its calibration and a background: python3 -c "
      "\"import numpy, empad2 as e; c = e.load_calibrations('SENSOR'); numpy.save('scan.npy', "
      "e.load_dataset('scan.raw', e.load_background('dark.raw', c), c).data)\" converts them"));
}

FlatPatterns empad_patterns(const ScanSource& source) {
  const EmpadFiles files = find_files(source.path);
  if (files.raw.empty())
    throw InputError(
        text('"', source.path,
             "\" is no XML of an EMPAD, nor named by one beside it, nor NAME_xN_yN.raw"));
  check_readable(files.raw);
  FlatPatterns flat{.path = files.raw, .type = {'f', 4}};
  flat.shape = empad_shape;
  flat.bytes_between = files.is_second ? 0 : rows_behind_bytes;
  flat.raster = raster_of(files);
  const int series = std::atoi(element(files.words, "series_count").c_str());
  if (series > 0) flat.raster.clear();
  const std::int64_t n =
      series > 0 ? series : std::int64_t{flat.raster[0]} * std::int64_t{flat.raster[1]};
  if (n < 1 || n > INT_MAX)
    throw InputError(
        text('"', source.path, "\" names no size of a scan; it is no XML of an EMPAD"));
  flat.n_positions = static_cast<int>(n);
  if (files.is_second && !files.words.empty() &&
      (element(files.words, "datatype") != "float32" ||
       static_cast<std::int64_t>(fs::file_size(files.raw)) > n * pixels_bytes))
    refuse_words_of_second(files.raw);
  return flat;
}

/// The first of the elements that holds a number above 0.
std::optional<Fact> number_of(const std::string& words, std::initializer_list<const char*> names,
                              const char* unit) {
  for (const char* name : names)
    if (const double value = std::atof(element(words, name).c_str()); value > 0)
      return Fact{name, value, unit};
  return {};
}

/// The whole field over the pixels. Version 1.2 says the longer side, made smaller by a factor
/// (rosettasciio's reader found it out).
void state_step(const EmpadFiles& files, ScanDescription& scan) {
  const std::vector<int> raster = raster_of(files);
  if (raster[0] < 1 || raster[1] < 1) return;
  const int longer = std::max(raster[0], raster[1]);
  const std::string field = element(files.words, "full_scan_field_of_view");
  double y_m = 0;
  double x_m = 0;
  if (const auto whole = number_of(field, {"x"}, "m")) {
    const auto factor = number_of(field, {"scale_factor"}, "");
    y_m = x_m = whole->value / (factor ? factor->value : 1) / longer;
  } else if (std::sscanf(element(files.words, "optics.get_full_scan_field_of_view").c_str(),
                         "[%lf ,%lf", &x_m, &y_m) == 2) {
    y_m /= raster[0];
    x_m /= raster[1];
  } else if (const auto of_second =
                 number_of(files.words, {"ColumnOpticsGetFullScanFieldOfViewx"}, "m")) {
    y_m = x_m = of_second->value / longer;
  }
  if (!(y_m > 0 && x_m > 0)) return;
  scan.statements.push_back({"data.raster_step_m", number_pair(rounded(y_m), rounded(x_m)),
                             "the full scan's field of view over its pixels: check it"});
  const std::string acquired =
      between(files.words, "<scan_parameters mode=\"acquire\">", "</scan_parameters>");
  if (const auto part = number_of(acquired.empty() ? files.words : acquired, {"scan_size"}, "");
      part && part->value < 1)
    scan.warnings.push_back(text("the XML says scan_size = ", number(part->value),
                                 ": if the scan took that part of the field of view only, multiply "
                                 "data.raster_step_m by it"));
}

std::optional<ScanDescription> describe_empad(const std::string& path) {
  const EmpadFiles files = find_files(path);
  ScanDescription scan;
  scan.what = files.is_second ? "EMPAD-G2 scan" : "EMPAD scan";
  std::optional<double> voltage_V;
  if (const auto voltage = number_of(
          files.words, {"high_voltage", "source.get_voltage", "ColumnSourceHighVoltage"}, "V"))
    voltage_V = state_voltage(*voltage, scan);
  auto angle = number_of(files.words, {"calibrated_diffraction_angle"}, "rad");
  if (!angle && !files.is_second) {
    angle = number_of(files.words, {"calibrated_pixelsize"}, "1/nm");
    if (angle) angle->value *= 1e9;  // as rosettasciio's reader takes it
  }
  state_detector(angle, voltage_V, scan);
  state_step(files, scan);
  const std::string when = between(files.words, "isoformat=\"", "\"");
  if (!when.empty()) scan.statements.push_back({"measured_at", in_quotes(when), "timestamp"});
  return scan;
}

}  // namespace

ScanFormat empad_scans() {
  return {"empad", "an EMPAD's XML file",
          [](const ScanSource& source) { return !find_files(source.path).raw.empty(); },
          [](const ScanSource& source, const comm::Communicator*) {
            return open_flat_scan(empad_patterns(source), source);
          },
          [](const ScanSource& source) { return describe_empad(source.path); }};
}

}  // namespace tessera::io

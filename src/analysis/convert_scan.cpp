// A scan of any format as CXI, which is NeXus' NXcxi_ptycho, too.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/geometry/wavelength.hpp"
#include "tessera/io/hdf5.hpp"

#include "convert_files.hpp"
#include "io/hdf5_scan.hpp"

namespace tessera::analysis {
namespace {

constexpr std::int64_t rows_at_once_bytes = 64 << 20;
const std::string detector = "entry_1/instrument_1/detector_1/";

/// Calls `work` with ranges of positions, (rows, columns) of the file's raster, and the first's
/// number.
template <class Work>
void in_pieces(const io::RecordedPatterns& patterns, std::int64_t bytes_of_one, Work&& work) {
  const int columns = patterns.raster.empty() ? 1 : patterns.raster[1];
  const int rows = patterns.n_positions / columns;
  const auto n = static_cast<int>(
      std::clamp<std::int64_t>(rows_at_once_bytes / (bytes_of_one * columns), 1, rows));
  for (int row = 0; row < rows; row += n)
    work(Box::at({row, 0}, {std::min(n, rows - row), columns}), std::int64_t{row} * columns);
}

void copy_patterns(io::ScanReader& reader, const io::RecordedPatterns& patterns, io::File& file) {
  const Shape2 shape = patterns.shape;
  const io::ElementType type = element_type(patterns.type);
  const std::string name = detector + "data";
  file.create_dataset(name, {patterns.n_positions, shape.h, shape.w}, type);
  std::vector<std::byte> values;
  const std::int64_t bytes_of_one = shape.size() * static_cast<std::int64_t>(io::size_of(type));
  in_pieces(patterns, bytes_of_one, [&](const Box& positions, std::int64_t first) {
    values.resize(static_cast<std::size_t>(positions.area() * bytes_of_one));
    reader.read_patterns(positions, Box::at({0, 0}, shape), values.data());
    file.write_slab(name, {first, 0, 0}, {positions.area(), shape.h, shape.w}, type, values.data());
  });
}

/// CXI's masks: 1 = invalid.
void copy_masks(io::ScanReader& reader, const io::RecordedPatterns& patterns, io::File& file) {
  const Shape2 shape = patterns.shape;
  const std::string name = detector + "mask";
  if (reader.has_own_masks()) {
    file.create_dataset(name, {patterns.n_positions, shape.h, shape.w}, io::ElementType::u8);
    std::vector<std::uint8_t> valid;
    in_pieces(patterns, shape.size(), [&](const Box& positions, std::int64_t first) {
      valid.resize(static_cast<std::size_t>(positions.area() * shape.size()));
      reader.read_masks(positions, Box::at({0, 0}, shape), valid.data());
      for (std::uint8_t& pixel : valid) pixel = pixel == 0;
      file.write_slab(name, {first, 0, 0}, {positions.area(), shape.h, shape.w},
                      io::ElementType::u8, valid.data());
    });
    return;
  }
  const ImageStack<double> valid = reader.valid_pixels();
  if (valid.n() == 0) return;
  std::vector<double> bad;
  for (const double pixel : valid) bad.push_back(pixel == 0);
  file.create_dataset(name, {shape.h, shape.w}, io::ElementType::u32);
  file.write_slab(name, {0, 0}, {shape.h, shape.w}, io::ElementType::f64, bad.data());
}

/// The keys that the file states, as numbers or words.
class Stated {
 public:
  explicit Stated(const io::ScanDescription& said) {
    for (const io::Statement& statement : said.statements) values_[statement.key] = statement.value;
  }
  double number(const std::string& key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? 0 : std::strtod(found->second.c_str(), nullptr);
  }
  /// Of "[a, b]".
  std::vector<double> numbers(const std::string& key) const {
    const auto found = values_.find(key);
    double a = 0;
    double b = 0;
    if (found == values_.end() || std::sscanf(found->second.c_str(), "[%lf, %lf]", &a, &b) != 2)
      return {};
    return {a, b};
  }
  std::string words(const std::string& key) const {
    const auto found = values_.find(key);
    if (found == values_.end() || found->second.size() < 2) return "";
    return found->second.substr(1, found->second.size() - 2);  // without quotes
  }

 private:
  std::map<std::string, std::string> values_;
};

void write_known_number(io::File& file, const std::string& name, double value, const char* unit) {
  if (value == 0) return;
  file.write_doubles(name, {}, {value});
  file.set_attribute(name, "units", unit);
}

/// NeXus finds groups by their class.
void set_class(io::File& file, const std::string& group, const char* nexus_class) {
  file.set_attribute(group, "NX_class", nexus_class);
}

/// An angle of a pixel becomes a pixel of as many metres at 1 m, a voltage the wavelength.
void write_experiment(const Stated& stated, io::File& file) {
  if (const double energy_eV = stated.number("experiment.energy_eV"); energy_eV > 0) {
    write_known_number(file, "entry_1/instrument_1/source_1/energy", joules_per_eV * energy_eV,
                       "J");
    set_class(file, "entry_1/instrument_1/source_1", "NXsource");
  }
  if (const double voltage = stated.number("experiment.voltage_V"); voltage > 0) {
    write_known_number(file, "entry_1/instrument_1/beam_1/incident_wavelength",
                       geometry::electron_wavelength_m(voltage), "m");
    set_class(file, "entry_1/instrument_1/beam_1", "NXbeam");
  }
  const double angle = stated.number("experiment.detector_pixel_rad");
  const double pixel = angle > 0 ? angle : stated.number("experiment.detector_pixel_m");
  write_known_number(file, detector + "distance",
                     angle > 0 ? 1.0 : stated.number("experiment.distance_m"), "m");
  write_known_number(file, detector + "x_pixel_size", pixel, "m");
  write_known_number(file, detector + "y_pixel_size", pixel, "m");
  for (const auto& [name, key] :
       {std::pair{"entry_1/title", "title"}, std::pair{"entry_1/sample_1/name", "sample"},
        std::pair{"entry_1/instrument_1/name", "instrument"},
        std::pair{"entry_1/start_time", "measured_at"}})
    if (const std::string words = stated.words(key); !words.empty()) file.write_text(name, words);
}

std::vector<Vec2> positions_of(const io::ScanReader& reader, const io::RecordedPatterns& patterns,
                               const Stated& stated) {
  std::vector<Vec2> positions = reader.positions_m();
  const std::vector<double> step = stated.numbers("data.raster_step_m");
  if (!positions.empty() || step.empty() || patterns.raster.empty()) return positions;
  for (int p = 0; p < patterns.n_positions; ++p)
    positions.push_back({step[0] * (p / patterns.raster[1]), step[1] * (p % patterns.raster[1])});
  return positions;
}

/// Without basis vectors x and y are taken as they are.
void write_positions(const std::vector<Vec2>& positions, io::File& file) {
  std::vector<double> translation;
  for (const Vec2 at : positions) translation.insert(translation.end(), {at.x, at.y, 0});
  const std::string name = "entry_1/sample_1/geometry_1/translation";
  file.write_doubles(name, {std::ssize(positions), 3}, translation);
  file.set_attribute(name, "units", "m");
  set_class(file, "entry_1/sample_1", "NXsample");
  set_class(file, "entry_1/sample_1/geometry_1", "NXcollection");
  file.link(detector + "translation", "/" + name);
  file.link("entry_1/data_1/translation", "/" + name);
}

/// What NXcxi_ptycho asks for besides.
void write_nexus(io::File& file) {
  file.link("entry_1/data_1/data", "/" + detector + "data");
  file.write_text("entry_1/definition", "NXcxi_ptycho");
  set_class(file, "entry_1", "NXentry");
  set_class(file, "entry_1/instrument_1", "NXinstrument");
  set_class(file, "entry_1/instrument_1/detector_1", "NXdetector");
  file.set_attribute("entry_1/instrument_1/detector_1", "signal", "data");
  set_class(file, "entry_1/data_1", "NXcollection");
}

}  // namespace

std::string write_cxi_scan(const std::string& path, const io::DescribedScan& scan) {
  const std::unique_ptr<io::ScanReader> reader = scan.format->open(scan.source, nullptr);
  const io::RecordedPatterns patterns = reader->patterns();
  reader->start_reading(patterns.type);
  const Stated stated(scan.said);
  const std::vector<Vec2> positions = positions_of(*reader, patterns, stated);
  io::File file = io::File::create(path);
  file.write_doubles("cxi_version", {}, {160});
  copy_patterns(*reader, patterns, file);
  copy_masks(*reader, patterns, file);
  if (!scan.said.background.empty()) {
    const ImageStack<double> dark = reader->detector_images(scan.said.background);
    file.write_doubles(detector + "dark", {dark.n(), dark.h(), dark.w()},
                       {dark.begin(), dark.end()});
  }
  write_experiment(stated, file);
  if (!positions.empty()) write_positions(positions, file);
  write_nexus(file);
  if (scan.said.is_cornered) file.set_attribute(detector + "data", "is_fft_shifted", 1.0);
  file.close();
  return positions.empty() ? "warning: no positions are known; init says how to give them\n" : "";
}

}  // namespace tessera::analysis

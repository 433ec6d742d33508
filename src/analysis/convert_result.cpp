// Results as CXI, PtyPy, NumPy, MATLAB and TIFF have them.

#include <cmath>
#include <complex>

#include "tessera/base/text.hpp"
#include "tessera/geometry/wavelength.hpp"
#include "tessera/io/hdf5.hpp"

#include "convert_files.hpp"
#include "io/exports.hpp"

namespace tessera::analysis {
namespace {

/// The formula is its own inverse: h c / (h c / E).
double photon_energy_eV(double wavelength_m) {
  return geometry::photon_wavelength_m(wavelength_m);
}

void write_waves(io::File& file, const std::string& name, const WaveStack& waves) {
  const io::Extents extents{waves.n(), waves.h(), waves.w()};
  file.create_dataset(name, extents, io::ElementType::complex64);
  file.write_slab(name, {0, 0, 0}, extents, io::ElementType::complex128, waves.data());
}

void write_number(io::File& file, const std::string& name, double value, const char* unit) {
  file.write_doubles(name, {}, {value});
  file.set_attribute(name, "units", unit);
}

void write_words(io::File& file, const std::string& name, const std::string& words) {
  if (!words.empty()) file.write_text(name, words);
}

std::vector<double> pairs(const std::vector<Vec2>& points) {
  std::vector<double> values;
  for (const Vec2 point : points) values.insert(values.end(), {point.y, point.x});
  return values;
}

/// What NumPy and MATLAB get.
std::vector<io::NamedArray> arrays_of(const ExportedResult& result) {
  std::vector<io::NamedArray> arrays{io::as_array("object", result.object),
                                     io::as_array("probe", result.probe)};
  arrays.push_back({"positions_m", {std::ssize(result.positions_m), 2}, pairs(result.positions_m)});
  arrays.push_back({"object_origin_m", {2}, {result.origin_m.y, result.origin_m.x}});
  arrays.push_back({"object_pixel_m", {}, {result.pixel_m}});
  arrays.push_back({"wavelength_m", {}, {result.wavelength_m}});
  return arrays;
}

io::TiffPage page_of(const std::string& words, const WaveStack& waves, int i, auto&& value_of) {
  io::TiffPage page{words, ImageStack<float>(1, waves.shape())};
  for (std::int64_t r = 0; r < waves.shape().size(); ++r)
    page.image.data()[r] = static_cast<float>(value_of(waves.image(i)[r]));
  return page;
}

/// One storage of PtyPy: pixel (0, 0) lies at `origin_m`.
void write_storage(io::File& file, const std::string& group, const WaveStack& waves, double pixel_m,
                   Vec2 origin_m) {
  write_waves(file, group + "/data", waves);
  file.write_doubles(group + "/_psize", {2}, {pixel_m, pixel_m});
  file.write_doubles(group + "/_origin", {2}, {origin_m.y, origin_m.x});
  file.write_doubles(group + "/_center", {2}, {-origin_m.y / pixel_m, -origin_m.x / pixel_m});
  file.write_text(group + "/ID", group.substr(group.rfind('/') + 1));
}

}  // namespace

void write_cxi_result(const std::string& path, const ExportedResult& result) {
  io::File file = io::File::create(path);
  file.write_doubles("cxi_version", {}, {160});
  write_words(file, "entry_1/title", result.title);
  write_words(file, "entry_1/start_time", result.measured_at);
  write_words(file, "entry_1/sample_1/name", result.sample);
  write_words(file, "entry_1/instrument_1/name", result.instrument);
  file.write_text("entry_1/program_name", "Tessera");
  write_waves(file, "entry_1/image_1/data", result.object);
  file.write_text("entry_1/image_1/data_space", "real");
  file.write_text("entry_1/image_1/data_type", "transmission");
  write_number(file, "entry_1/image_1/x_pixel_size", result.pixel_m, "m");
  write_number(file, "entry_1/image_1/y_pixel_size", result.pixel_m, "m");
  file.write_doubles("entry_1/image_1/corner_position", {3},
                     {result.origin_m.x, result.origin_m.y, 0});
  write_waves(file, "entry_1/instrument_1/source_1/probe", result.probe);
  write_number(file, "entry_1/instrument_1/beam_1/incident_wavelength", result.wavelength_m, "m");
  write_number(file, "entry_1/instrument_1/source_1/energy",
               joules_per_eV * photon_energy_eV(result.wavelength_m), "J");
  std::vector<double> translation;
  for (const Vec2 at : result.positions_m) translation.insert(translation.end(), {at.x, at.y, 0});
  const std::string name = "entry_1/sample_1/geometry_1/translation";
  file.write_doubles(name, {std::ssize(result.positions_m), 3}, translation);
  file.set_attribute(name, "units", "m");
  file.close();
}

void write_ptyr(const std::string& path, const ExportedResult& result) {
  io::File file = io::File::create(path);
  write_storage(file, "content/obj/SscanG00", result.object, result.pixel_m, result.origin_m);
  const Vec2 corner{-result.pixel_m * (result.probe.h() / 2),
                    -result.pixel_m * (result.probe.w() / 2)};
  write_storage(file, "content/probe/SscanG00", result.probe, result.pixel_m, corner);
  file.write_doubles("content/positions/SscanG00", {std::ssize(result.positions_m), 2},
                     pairs(result.positions_m));
  file.write_doubles("content/meta/energy", {}, {photon_energy_eV(result.wavelength_m) / 1e3});
  file.write_text("content/meta/label", result.title);
  file.close();
}

void write_npz_result(const std::string& path, const ExportedResult& result) {
  io::write_npz(path, arrays_of(result));
}

void write_mat_result(const std::string& path, const ExportedResult& result) {
  io::write_mat(path, arrays_of(result));
}

void write_tiff_result(const std::string& path, const ExportedResult& result) {
  std::vector<io::TiffPage> pages;
  for (int i = 0; i < result.object.n(); ++i) {
    pages.push_back(page_of(text("amplitude of object ", i), result.object, i,
                            [](std::complex<double> value) { return std::abs(value); }));
    pages.push_back(page_of(text("phase of object ", i, ", radians"), result.object, i,
                            [](std::complex<double> value) { return std::arg(value); }));
  }
  io::write_tiff(path, pages, result.pixel_m);
}

}  // namespace tessera::analysis

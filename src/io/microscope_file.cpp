#include "microscope_file.hpp"

#include <cmath>
#include <filesystem>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "electron_statements.hpp"
#include "hdf5_handle.hpp"

namespace tessera::io {
namespace {

const std::string microscope = "electron_microscope/";
const std::string regular_scan = microscope + "scan_controller/regular_scan/";

std::optional<Fact> fact(const File& file, const std::string& name) {
  return find_number(file, {name.c_str()});
}

void state_nxem(const File& file, std::int64_t n_frames, ScanDescription& scan) {
  const auto rows = fact(file, regular_scan + "n_pixels_y");
  const auto columns = fact(file, regular_scan + "n_pixels_x");
  if (rows && columns && std::llround(rows->value * columns->value) == n_frames)
    scan.statements.push_back({"data.raster_shape", number_pair(rows->value, columns->value),
                               regular_scan + "n_pixels_y and n_pixels_x"});
  else if (rows && columns)
    scan.warnings.push_back(text('"', file.path(), "\" says ", number(rows->value), " x ",
                                 number(columns->value), " positions, but there are ", n_frames,
                                 " frames"));
  state_raster(fact(file, regular_scan + "pixel_size_y"), fact(file, regular_scan + "pixel_size_x"),
               scan);
  std::optional<double> voltage_V;
  if (auto voltage = fact(file, microscope + "electron_source/accelerating_voltage");
      voltage && voltage->value > 0)
    voltage_V = state_voltage(*voltage, scan);
  state_detector(fact(file, microscope + "imaging_system/reciprocal_pixel_size_y"), voltage_V,
                 scan);
  if (const auto angle = fact(file, microscope + "illumination_system/semi_convergence_angle");
      angle && angle->value * radians_per(angle->unit) > 0)
    scan.statements.push_back(
        {"probe.semi_angle_rad", number(angle->value * radians_per(angle->unit)), angle->name});
}

/// "Pixel Size", nanometres, one for both axes.
void state_novena(const File& file, ScanDescription& scan) {
  try {
    const auto size = file.number_attribute("STEM Metadata", "Pixel Size");
    if (!size || *size <= 0) return;
    const Fact step{"\"STEM Metadata\", Pixel Size", *size, "nm"};
    state_raster(step, step, scan);
  } catch (const InputError&) {  // another file of that name
  }
}

}  // namespace

void state_microscope_beside(const std::string& master, std::int64_t n_frames,
                             ScanDescription& scan) {
  const std::string ending = "_master.h5";
  if (!master.ends_with(ending)) return;
  const std::string name = master.substr(0, master.size() - ending.size());
  for (const std::string& beside : {name + "_em_metadata.h5", name + ".h5"}) {
    if (!std::filesystem::exists(beside) || !is_hdf5(beside)) continue;
    const std::size_t n_before = scan.statements.size();
    const File file = File::open(beside);
    if (file.has("electron_microscope")) state_nxem(file, n_frames, scan);
    if (file.has("STEM Metadata")) state_novena(file, scan);
    if (scan.statements.size() > n_before)
      scan.what += " with \"" + std::filesystem::path(beside).filename().string() + '"';
  }
}

}  // namespace tessera::io

#include "scan_file.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/written_values.hpp"

namespace tessera::testing {
namespace {

constexpr int n_rows = 4;  // and columns, of positions
constexpr int width_px = 16;

}  // namespace

std::string small_deck() {
  return R"([data]
file = "scan.h5"
valid_pixels = "valid_pixels"
[experiment]
energy_eV = 8000.0
distance_m = 1.8
detector_pixel_m = 172e-6
[probe]
initial = "aperture"
semi_angle_rad = 4e-4
[solver]
epochs = 3
batch_size = 8
[output]
file = "result.h5"
)";
}

double small_pixel_m() {
  const double wavelength_m = 1.239841984e-6 / 8000.0;
  return wavelength_m * 1.8 / (width_px * 172e-6);
}

SmallScan::SmallScan() : valid_pixels(width_px * width_px, 1.0) {
  for (int position = 0; position < n_rows * n_rows; ++position)
    for (int y = 0; y < width_px; ++y)
      for (int x = 0; x < width_px; ++x) {
        const double r2 = std::pow(y - 8, 2) + std::pow(x - 8, 2);
        patterns.push_back(std::round(1000 * std::exp(-r2 / 8) + position));
      }
  set_step(2.5);
}

void SmallScan::set_step(double step_px) {
  positions_m.clear();
  for (int row = 0; row < n_rows; ++row)
    for (int column = 0; column < n_rows; ++column)
      positions_m.insert(positions_m.end(),
                         {row * step_px * small_pixel_m(), column * step_px * small_pixel_m()});
}

void SmallScan::write(const std::string& path) const {
  io::File file = io::File::create(path);
  write_values(file, "patterns", pattern_extents, pattern_type, patterns);
  write_values(file, "positions_m", position_extents, io::ElementType::f64, positions_m);
  write_values(file, "valid_pixels", mask_extents, io::ElementType::u8, valid_pixels);
  const auto n = static_cast<std::size_t>(probe_extents[0] * probe_extents[1] * probe_extents[2]);
  write_values(file, "probe_guess", probe_extents, io::ElementType::f64,
               std::vector<double>(n, 1.0));
  file.close();
}

ScanFolder::ScanFolder(const SmallScan& scan_contents) {
  scan_contents.write(scan());
  write_deck(small_deck());
}

std::vector<std::string> ScanFolder::reconstruct(const std::vector<std::string>& overrides) const {
  // Up to 4 ranks, on machines with fewer GPUs too.
  std::vector<std::string> words{"reconstruct", deck(), "run.share_gpu=true"};
  words.insert(words.end(), overrides.begin(), overrides.end());
  return words;
}

void ScanFolder::leave_out(const std::string& key) const {
  std::istringstream deck_text(small_deck());
  std::string rest;
  for (std::string line; std::getline(deck_text, line);)
    if (!line.starts_with(key + " =")) rest += line + "\n";
  write_deck(rest);
}

void ScanFolder::write_deck(const std::string& text) const {
  std::ofstream(deck()) << text;
}

std::vector<std::string> ScanFolder::files() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path("")))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace tessera::testing

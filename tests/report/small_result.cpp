#include "report/small_result.hpp"

#include <cmath>

#include "tessera/io/hdf5.hpp"

namespace tessera::testing {
namespace {

void write_waves(io::File& file, const std::string& name, const WaveStack& waves) {
  const io::Extents extents{waves.n(), waves.h(), waves.w()};
  file.create_dataset(name, extents, io::ElementType::complex128);
  file.write_slab(name, {0, 0, 0}, extents, io::ElementType::complex128, waves.data());
}

}  // namespace

/// Even about the middle of what is lit, so that there is no ramp.
SmallResult::SmallResult() : object(1, {40, 48}, 5.0), probe(3, {16, 16}), background(1, {16, 16}) {
  for (int y = lit.begin.y; y < lit.end.y; ++y)
    for (int x = lit.begin.x; x < lit.end.x; ++x) {
      const double across = std::cos(0.3 * (y - 19.5)) * std::cos(0.2 * (x - 23.5));
      object(0, y, x) = std::polar(1 - 0.2 * across, 0.4 * across);
    }
  for (int mode = 0; mode < 3; ++mode)
    for (int y = 0; y < 16; ++y)
      for (int x = 0; x < 16; ++x)
        probe(mode, y, x) = std::polar(3.0 - mode, 0.1 * y - 0.2 * x + mode);
  for (int y = 0; y < 16; ++y)
    for (int x = 0; x < 16; ++x) background(0, y, x) = y + 0.01 * x;
}

void SmallResult::write(const std::string& path) const {
  io::File file = io::File::create(path);
  write_waves(file, "object", object);
  write_waves(file, "probe", probe);
  std::vector<double> corners, positions, moves, intensities, weights;
  for (int i = 0; i < n_positions; ++i) {
    // Four columns and three rows, 8 pixels apart.
    corners.insert(corners.end(), {4.0 + 8 * (i / 4), 4.0 + 8 * (i % 4)});
    positions.insert(positions.end(), {1e-6 * i, 2e-6 * i});
    moves.insert(moves.end(), {0.5, -0.25 * i});
    intensities.push_back(intensity(i));
    weights.push_back(opr_weight(i));
  }
  file.write_doubles("window_corner_px", {n_positions, 2}, corners);
  file.write_doubles("positions_m", {n_positions, 2}, positions);
  file.write_doubles("parameters/displacement_px", {n_positions, 2}, moves);
  file.write_doubles("parameters/intensity", {n_positions, 1}, intensities);
  file.write_doubles("parameters/opr_weight", {n_positions, 1}, weights);
  file.write_doubles("parameters/background", {16, 16}, {background.begin(), background.end()});
  file.write_doubles("history/error", {4}, {0.5, 0.2, 0.1, 0.05});
  file.write_doubles("history/stage", {4}, {0, 0, 1, 1});
  file.write_doubles("history/validation_error", {4}, {0.6, std::nan(""), 0.3, 0.2});
  file.write_doubles("tiles/owned", {2, 4}, {0, 0, 40, 24, 0, 24, 40, 48});
  file.write_doubles("tiles/ghosted", {2, 4}, {0, 0, 40, 30, 0, 18, 40, 48});
  file.write_doubles("halves/nyquist_fraction", {3}, {0, 0.5, 1});
  file.write_doubles("halves/correlation", {3}, {1, 0.6, 0.1});
  file.write_doubles("halves/one_bit", {3}, {1, 0.4, 0.35});
  file.write_doubles("halves/half_bit", {3}, {1, 0.3, 0.25});
  file.set_attribute("halves", "one_bit_nyquist_fraction", 0.75);
  file.set_attribute("halves", "half_bit_nyquist_fraction", 0.875);
  file.write_doubles("bad_patterns", {2}, {2, 3});
  file.write_doubles("worst_patterns/position", {1}, {7});
  file.write_doubles("worst_patterns/cost", {1}, {12.5});
  file.write_doubles("worst_patterns/error", {1}, {0.25});
  file.write_doubles("worst_patterns/measured", {1, 2, 3}, {0, 1, 4, 9, 16, std::nan("")});
  file.write_doubles("worst_patterns/expected", {1, 2, 3}, {1, 1, 4, 4, 16, std::nan("")});
  file.write_doubles("ranks/compute_s", {2}, {3.5, 4});
  file.write_doubles("ranks/device_bytes", {2}, {5e6, 6e6});
  const std::string slices =
      object.n() > 1 ? "[object]\nn_slices = 2\nslice_thickness_m = 1e-6\n" : "";
  file.write_text("deck",
                  "title = \"a small result\"\n[data]\nfile = \"scan.h5\"\n[experiment]\n"
                  "energy_eV = 8800.0\ndistance_m = 2.0\ndetector_pixel_m = 75e-6\n"
                  "[probe]\ninitial = \"mean_pattern\"\nn_modes = 2\nopr_modes = 1\n" +
                      slices +
                      "[[solver]]\nmethod = \"rpie\"\nepochs = 2\n"
                      "[[solver]]\nmethod = \"lsqml\"\nepochs = 2\n");
  file.write_text("versions", "tessera 0.1.0");
  file.write_text("hosts", "node1\nnode2");
  file.set_attribute("/", "format", "tessera-result 1");
  file.set_attribute("/", "title", title);
  file.set_attribute("/", "status", "finished");
  file.set_attribute("/", "epochs", 4.0);
  file.set_attribute("/", "final_error", 0.04);
  file.set_attribute("/", "object_pixel_m", pixel_m);
  file.set_attribute("/", "wavelength_m", 1.4e-10);
  file.close();
}

}  // namespace tessera::testing

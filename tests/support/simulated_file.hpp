#pragma once
/// Small simulated scans, what their files say is the truth, and the plain model of that.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tessera/base/text.hpp"
#include "tessera/io/hdf5.hpp"

#include "simulation/simulation.hpp"
#include "support/plain_model.hpp"
#include "support/world.hpp"

namespace tessera::testing {

inline constexpr double pi = std::numbers::pi;

/// Removes what a test wrote; the name tells apart the programs that run at the same time.
class ScratchFile {
 public:
  explicit ScratchFile(const std::string& name)
      : path(text("test_simulated_", world().size(), "_", name, ".h5")) {}
  ~ScratchFile() {
    world().barrier();
    if (world().is_root()) std::filesystem::remove(path);
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  const std::string path;
};

/// A scan of 12 positions of 16 x 16 pixels: 7 kB.
inline deck::Deck small_simulation(const std::string& path) {
  deck::Deck deck;
  deck.title = "small scan";
  deck.data.file = path;
  deck.experiment.energy_eV = 8000;
  deck.experiment.distance_m = 1.8;
  deck.experiment.detector_pixel_m = 688e-6;
  deck.probe.initial = "aperture";
  deck.probe.semi_angle_rad = 1.2e-3;
  deck.probe.defocus_m = 60e-6;
  deck.probe.n_modes = 2;
  deck.simulation.scan = "fermat";
  deck.simulation.n_positions = 12;
  deck.simulation.step_m = 120e-9;
  deck.simulation.detector_shape = {16, 16};
  deck.simulation.counts_per_pattern = 2e4;
  deck.simulation.noise = "none";
  return deck;
}

inline void simulate_quietly(const deck::Deck& deck, const comm::Communicator& comm = world()) {
  simulation::simulate(deck, comm, Log(false));
}

inline std::vector<Vec2> read_pairs(const io::File& file, const std::string& name) {
  const std::vector<double> values = file.read_doubles(name);
  std::vector<Vec2> points;
  for (std::size_t i = 0; i + 1 < values.size(); i += 2)
    points.push_back({values[i], values[i + 1]});
  return points;
}

struct Truth {
  explicit Truth(const std::string& path) : Truth(io::File::open(path)) {}
  explicit Truth(const io::File& file)
      : object(file.read_waves("truth/object")),
        probe(file.read_waves("truth/probe")),
        corner_px(read_pairs(file, "truth/window_corner_px")),
        positions_m(read_pairs(file, "truth/positions_m")),
        pixel_m(file.number_attribute("/", "object_pixel_m").value_or(0)),
        wavelength_m(file.number_attribute("/", "wavelength_m").value_or(0)) {}
  WaveStack object;
  WaveStack probe;
  std::vector<Vec2> corner_px;
  std::vector<Vec2> positions_m;
  double pixel_m;
  double wavelength_m;
};

/// factor(fy, fx) at every frequency, cycles per pixel.
using Filter = std::function<Complex(double, double)>;

inline Filter shift_by(Vec2 shift_px) {
  return [=](double fy, double fx) {
    return std::polar(1.0, -2 * pi * (fy * shift_px.y + fx * shift_px.x));
  };
}

/// What the detector sees, summed over modes, by the plain model. Far field (no `to_detector`):
/// zero frequency at the centre.
inline std::vector<double> plain_intensity(const WaveStack& probe, const WaveStack& object,
                                           Vec2 corner_px, const Filter& to_next_slice = {},
                                           const Filter& to_detector = {}) {
  const Pixel corner{static_cast<int>(std::floor(corner_px.y + 0.5)),
                     static_cast<int>(std::floor(corner_px.x + 0.5))};
  WaveStack waves = shifted(probe, corner_px - as_vec2(corner));
  for (int slice = 0; slice < object.n(); ++slice) {
    if (slice > 0) multiply_spectrum(waves, to_next_slice);
    multiply_by_object(waves, object, slice, corner);
  }
  if (to_detector)
    multiply_spectrum(waves, to_detector);
  else
    waves = dft(waves, -1);
  const ImageStack<double> seen = intensity(waves);
  const int to_centre = to_detector ? 0 : probe.w() / 2;
  std::vector<double> made;
  for (int y = 0; y < seen.h(); ++y)
    for (int x = 0; x < seen.w(); ++x)
      made.push_back(seen(0, (y + to_centre) % seen.h(), (x + to_centre) % seen.w()));
  return made;
}

/// The pattern in the file is `expected`, to float precision of its brightest pixel.
inline void expect_pattern(const std::string& path, int position,
                           const std::vector<double>& expected) {
  const std::vector<double> patterns = io::File::open(path).read_doubles("patterns");
  const double max = *std::ranges::max_element(expected);
  const double* pattern = patterns.data() + position * expected.size();
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    worst = std::max(worst, std::abs(pattern[i] - expected[i]) / max);
  EXPECT_LT(worst, 2e-7) << "position " << position;
}

}  // namespace tessera::testing

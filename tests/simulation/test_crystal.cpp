// Crystals of known columns: what the file says of them against the object that it holds.

#include <array>

#include "support/simulated_file.hpp"

namespace tessera::simulation {
namespace {

using namespace testing;

/// Object pixels of 25 pm.
deck::Deck crystal_simulation(const std::string& path, const std::string& kind) {
  deck::Deck deck = small_simulation(path);
  deck.experiment = {};
  deck.experiment.voltage_V = 300e3;
  deck.experiment.detector_pixel_rad = 1.9687e-12 / (32 * 25e-12);
  deck.probe.n_modes = 1;
  deck.probe.semi_angle_rad = 20e-3;
  deck.probe.defocus_m = 4e-9;
  deck.object.n_slices = 4;
  deck.object.slice_distances_m = {1e-9, 2e-9, 1.5e-9};
  deck.simulation.object = kind;
  deck.simulation.phase_rad = 0.5;
  deck.simulation.absorption = 0;
  deck.simulation.n_dopants = 3;
  deck.simulation.scan = "raster";
  deck.simulation.n_positions = 36;
  deck.simulation.step_m = 2e-10;
  deck.simulation.detector_shape = {32, 32};
  return deck;
}

/// Phase of the slice at a column, from the four pixels about it: what a Gaussian there says of its
/// middle, by least squares.
double phase_at(const Truth& truth, int slice, Vec2 at_px, double sigma_px) {
  double product = 0;
  double power = 0;
  for (int y = static_cast<int>(at_px.y); y <= static_cast<int>(at_px.y) + 1; ++y)
    for (int x = static_cast<int>(at_px.x); x <= static_cast<int>(at_px.x) + 1; ++x) {
      const double bell = std::exp(-(std::pow(y - at_px.y, 2) + std::pow(x - at_px.x, 2)) /
                                   (2 * sigma_px * sigma_px));
      product += bell * std::arg(truth.object(slice, y, x));
      power += bell * bell;
    }
  return product / power;
}

TEST(Crystal, ColumnsAndDopantsAreWhereTheFileSaysThatTheyAre) {
  ScratchFile scratch("crystal");
  for (const std::string kind : {"perovskite", "mos2"}) {
    simulate_quietly(crystal_simulation(scratch.path, kind));
    if (!world().is_root()) continue;
    const Truth truth(scratch.path);
    const io::File file = io::File::open(scratch.path);
    const double sigma_px = file.read_doubles("truth/column_sigma_px").at(0);
    EXPECT_NEAR(sigma_px, 30.0 / 25, 1e-3);
    const std::vector<double> columns = file.read_doubles("truth/columns");
    const std::vector<double> dopants = file.read_doubles("truth/dopants");
    ASSERT_EQ(dopants.size(), 9u);
    // What a column of each kind weighs, of phase_rad, in slices 0 and 1.
    const std::array<std::array<double, 2>, 3> perovskite{{{0.7, 0.7}, {0.4, 0.4}, {0.12, 0.12}}};
    const std::array<std::array<double, 2>, 3> mos2{{{0.6, 0.3}, {}, {0.3, 0.6}}};
    int n_seen = 0;
    for (std::size_t i = 0; 3 * i < columns.size(); ++i) {
      const Vec2 at_px{columns[3 * i], columns[3 * i + 1]};
      if (!Box::at({4, 4}, {truth.object.h() - 8, truth.object.w() - 8})
               .contains(Pixel{static_cast<int>(at_px.y), static_cast<int>(at_px.x)}))
        continue;
      ++n_seen;
      for (int slice = 0; slice < 4; ++slice) {
        double expected = 0.5 * (kind == "mos2" ? mos2 : perovskite)
                                    .at(static_cast<std::size_t>(columns[3 * i + 2]))[slice % 2];
        for (std::size_t d = 0; d < 9; d += 3)
          if (dopants[d] == static_cast<double>(i) && dopants[d + 1] == slice)
            expected += dopants[d + 2];
        EXPECT_NEAR(phase_at(truth, slice, at_px, sigma_px), expected, 1e-3)
            << kind << " column " << i << " slice " << slice;
      }
    }
    EXPECT_GT(n_seen, 20);
    for (std::size_t d = 0; d < 9; d += 3) EXPECT_GE(dopants[d + 2], 0.2 - 1e-9);
  }
}

TEST(Crystal, GapsAreAsLongAsTheDeckSays) {
  ScratchFile scratch("gaps");
  const deck::Deck deck = crystal_simulation(scratch.path, "perovskite");
  simulate_quietly(deck);
  if (!world().is_root()) return;
  const Truth truth(scratch.path);
  EXPECT_EQ(io::File::open(scratch.path).read_doubles("truth/slice_distance_m"),
            deck.object.slice_distances_m);
  const double q = 1 / truth.wavelength_m;
  for (const std::size_t position : {0, 7}) {
    const Vec2 at_px = truth.corner_px[position];
    const Pixel corner{static_cast<int>(std::lround(at_px.y)),
                       static_cast<int>(std::lround(at_px.x))};
    WaveStack waves = shifted(truth.probe, at_px - as_vec2(corner));
    multiply_by_object(waves, truth.object, 0, corner);
    for (int slice = 1; slice < 4; ++slice) {
      const double dz_m = deck.object.slice_distances_m[static_cast<std::size_t>(slice - 1)];
      multiply_spectrum(waves, [&](double fy, double fx) {
        const double k2 = (fy * fy + fx * fx) / (truth.pixel_m * truth.pixel_m);
        return std::polar(1.0, 2 * pi * dz_m * (std::sqrt(q * q - k2) - q));
      });
      multiply_by_object(waves, truth.object, slice, corner);
    }
    const ImageStack<double> seen = intensity(dft(waves, -1));
    std::vector<double> expected;
    for (int y = 0; y < 32; ++y)
      for (int x = 0; x < 32; ++x) expected.push_back(seen(0, (y + 16) % 32, (x + 16) % 32));
    expect_pattern(scratch.path, static_cast<int>(position), expected);
  }
}

}  // namespace
}  // namespace tessera::simulation

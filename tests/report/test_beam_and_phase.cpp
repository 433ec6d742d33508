// What a report computes of its own, against formulas.

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "report/beam_along_z.hpp"
#include "report/unwrapped_phase.hpp"

namespace tessera::report {
namespace {

constexpr double pi = std::numbers::pi;

/// A hill of 20 rad that is lit within a disc.
TEST(UnwrappedPhase, IsTheSmoothPhaseUpToWholeTurns) {
  const Shape2 shape{61, 80};
  ImageStack<double> truth(1, shape), given(1, shape);
  optics::PixelSet lit(1, shape);
  for (int y = 0; y < shape.h; ++y)
    for (int x = 0; x < shape.w; ++x) {
      const double r2 = (y - 30) * (y - 30) + (x - 36) * (x - 36);
      lit(0, y, x) = r2 < 26 * 26;
      truth(0, y, x) = lit(0, y, x) ? 20 * std::exp(-r2 / 400) : 1.7 * (y * x % 11);
      given(0, y, x) = std::remainder(truth(0, y, x), 2 * pi);
    }
  const std::vector<int> turns = turns_of(given, lit);
  const double offset_rad = given(0, 30, 36) + 2 * pi * turns[30 * 80 + 36] - truth(0, 30, 36);
  EXPECT_NEAR(std::remainder(offset_rad, 2 * pi), 0, 1e-9);
  for (std::size_t r = 0; r < truth.size(); ++r) {
    if (!lit.data()[r]) continue;
    ASSERT_NEAR(given.data()[r] + 2 * pi * turns[r] - offset_rad, truth.data()[r], 1e-9) << r;
  }
}

/// A Gaussian beam 30 um behind its waist: radius w(z) = w0 sqrt(1 + (z / zR)^2), zR = pi w0^2 /
/// wavelength (Saleh & Teich, Fundamentals of Photonics, section 3.1).
TEST(BeamAlongZ, IsThatOfAGaussianBeam) {
  const int n = 128;
  const double pixel_m = 20e-9, wavelength_m = 2e-10, waist_m = 150e-9, behind_m = 300e-6;
  const double range_m = pi * waist_m * waist_m / wavelength_m;
  const auto radius_m = [&](double z_m) { return waist_m * std::hypot(1.0, z_m / range_m); };
  const double curvature_m = behind_m + range_m * range_m / behind_m;
  WaveStack probe(1, {n, n});
  double power = 0;
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) {
      const double r2 = pixel_m * pixel_m * ((y - 64.0) * (y - 64.0) + (x - 60.0) * (x - 60.0));
      probe(0, y, x) = std::polar(std::exp(-r2 / (radius_m(behind_m) * radius_m(behind_m))),
                                  pi * r2 / (wavelength_m * curvature_m));
      power += std::norm(probe(0, y, x));
    }
  const BeamAlongZ beam = beam_along_z(probe, pixel_m, wavelength_m);
  const double step_m = beam.z_m[1] - beam.z_m[0];
  EXPECT_NEAR(beam.sharpest_m, -behind_m, step_m);
  for (const std::size_t plane : {beam.z_m.size() / 4, beam.z_m.size() / 2}) {
    double sum = 0, centre = 0, squares = 0;
    for (int x = 0; x < n; ++x) {
      const double here = beam.x(0, x, static_cast<int>(plane));
      sum += here;
      centre += x * here;
      squares += x * x * here;
    }
    EXPECT_NEAR(sum / power, 1, 1e-9);
    EXPECT_NEAR(centre / sum, 60, 0.05);
    const double sigma_m = pixel_m * std::sqrt(squares / sum - centre * centre / sum / sum);
    const double expected_m = radius_m(beam.z_m[plane] + behind_m) / 2;
    EXPECT_NEAR(sigma_m / expected_m, 1, 0.01) << beam.z_m[plane];
  }
}

}  // namespace
}  // namespace tessera::report

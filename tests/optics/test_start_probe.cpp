// Start probes against what optics says of them.

#include <cmath>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/base/error.hpp"
#include "tessera/optics/host_fft.hpp"
#include "tessera/optics/start_probe.hpp"

#include "optics/near_field_probe.hpp"

namespace tessera::optics::start_probe_tests {
namespace {

constexpr double wavelength_m = 1.5e-10;
constexpr double pixel_m = 20e-9;
constexpr Shape2 window{64, 64};
constexpr double bin_rad = wavelength_m / (64 * pixel_m);

double power(const WaveStack& probe, int mode) {
  double sum = 0;
  for (int y = 0; y < probe.h(); ++y)
    for (int x = 0; x < probe.w(); ++x) sum += std::norm(probe(mode, y, x));
  return sum;
}

double power(const WaveStack& probe) {
  double sum = 0;
  for (int mode = 0; mode < probe.n(); ++mode) sum += power(probe, mode);
  return sum;
}

std::complex<double> overlap(const WaveStack& probe, int a, int b) {
  std::complex<double> sum = 0;
  for (int y = 0; y < probe.h(); ++y)
    for (int x = 0; x < probe.w(); ++x) sum += std::conj(probe(a, y, x)) * probe(b, y, x);
  return sum;
}

/// The pupil on a centred grid of angles.
WaveStack pupil_of(const WaveStack& probe) {
  WaveStack corner(1, probe.shape());
  for (int y = 0; y < probe.h(); ++y)
    for (int x = 0; x < probe.w(); ++x)
      corner(0, (y + probe.h() / 2) % probe.h(), (x + probe.w() / 2) % probe.w()) = probe(0, y, x);
  optics::forward_2d(corner);
  return optics::centred(corner);
}

double rms_radius_px(const WaveStack& probe) {
  double sum = 0;
  for (int y = 0; y < probe.h(); ++y)
    for (int x = 0; x < probe.w(); ++x) {
      const double dy = y - probe.h() / 2;
      const double dx = x - probe.w() / 2;
      sum += std::norm(probe(0, y, x)) * (dy * dy + dx * dx);
    }
  return std::sqrt(sum / power(probe));
}

TEST(ApertureProbe, PupilIsADiscOfTheSemiAngle) {
  const double semi_angle_rad = 10 * bin_rad;
  const WaveStack pupil =
      pupil_of(aperture_probe(window, wavelength_m, pixel_m, {semi_angle_rad, 100e-6}));
  const double open = std::abs(pupil(0, 32, 32));
  double area = 0;
  for (int y = 0; y < 64; ++y)
    for (int x = 0; x < 64; ++x) {
      const double theta_bins = std::hypot(y - 32, x - 32);
      const double relative = std::abs(pupil(0, y, x)) / open;
      area += relative;
      if (theta_bins < 9.4) {
        EXPECT_NEAR(relative, 1, 1e-12) << y << " " << x;
      }
      if (theta_bins > 10.6) {
        EXPECT_NEAR(relative, 0, 1e-12) << y << " " << x;
      }
    }
  EXPECT_NEAR(std::sqrt(area / std::numbers::pi), 10, 0.05);
}

TEST(ApertureProbe, DefocusIsAQuadraticPhaseOfTheStatedSign) {
  const double defocus_m = -80e-6;
  const WaveStack pupil =
      pupil_of(aperture_probe(window, wavelength_m, pixel_m, {10 * bin_rad, defocus_m}));
  for (int bins = 1; bins < 9; ++bins) {
    const double theta_rad = bins * bin_rad;
    const auto expected =
        std::polar(1.0, std::numbers::pi / wavelength_m * 80e-6 * theta_rad * theta_rad);
    const auto found = pupil(0, 32, 32 + bins) / pupil(0, 32, 32);
    EXPECT_NEAR(std::abs(found - expected), 0, 1e-9) << bins;
  }
}

TEST(ApertureProbe, InFocusItIsAnAiryDiscAtTheWindowCentre) {
  const WaveStack probe = aperture_probe(window, wavelength_m, pixel_m, {8 * bin_rad, 0});
  EXPECT_NEAR(power(probe), 1, 1e-12);
  // First dark ring at 0.61 wavelength / semi-angle: 0.61 * 64 / 8 = 4.9 px.
  const double peak = std::abs(probe(0, 32, 32));
  for (int y = 0; y < 64; ++y)
    for (int x = 0; x < 64; ++x) EXPECT_LE(std::abs(probe(0, y, x)), peak * (1 + 1e-12));
  EXPECT_GT(std::real(probe(0, 32, 32 + 4)), 0);
  EXPECT_LT(std::real(probe(0, 32, 32 + 6)), 0);
}

TEST(ApertureProbe, EitherDefocusSpreadsItAlike) {
  auto radius_px = [](double defocus_m) {
    return rms_radius_px(aperture_probe(window, wavelength_m, pixel_m, {10 * bin_rad, defocus_m}));
  };
  EXPECT_NEAR(radius_px(150e-6), radius_px(-150e-6), 1e-9);
  EXPECT_GT(radius_px(150e-6), 1.2 * radius_px(0));
}

TEST(ApertureProbe, IsMirrorSymmetricAboutTheCentre) {
  const WaveStack probe = aperture_probe(window, wavelength_m, pixel_m, {10 * bin_rad, 150e-6});
  for (int y = 1; y < 64; ++y)
    for (int x = 1; x < 64; ++x)
      EXPECT_NEAR(std::abs(probe(0, y, x) - probe(0, 64 - y, 64 - x)), 0, 1e-12);
}

TEST(ApertureProbe, ThatDoesNotFitIsRefused) {
  EXPECT_THROW(aperture_probe(window, wavelength_m, pixel_m, {0, 0}), InputError);
  EXPECT_THROW(aperture_probe(window, wavelength_m, pixel_m, {33 * bin_rad, 0}), InputError);
  // Geometric radius 33 px of 32.
  const double defocus_m = 33 * pixel_m / (10 * bin_rad);
  EXPECT_THROW(aperture_probe(window, wavelength_m, pixel_m, {10 * bin_rad, defocus_m}),
               InputError);
}

TEST(ZonePlateProbe, PupilIsTheRingBetweenStopAndOuterZone) {
  // Outer angle wavelength / (2 outer zone width) = 12 bins; the stop covers a third of it.
  const double outer_zone_width_m = wavelength_m / (2 * 12 * bin_rad);
  const WaveStack pupil = pupil_of(
      zone_plate_probe(window, wavelength_m, pixel_m, {120e-6, outer_zone_width_m, 40e-6, 50e-6}));
  const double open = std::abs(pupil(0, 32, 32 + 8));
  for (int y = 0; y < 64; ++y)
    for (int x = 0; x < 64; ++x) {
      const double theta_bins = std::hypot(y - 32, x - 32);
      const double relative = std::abs(pupil(0, y, x)) / open;
      if (theta_bins < 3.4 || theta_bins > 12.6) {
        EXPECT_NEAR(relative, 0, 1e-12);
      }
      if (theta_bins > 4.6 && theta_bins < 11.4) {
        EXPECT_NEAR(relative, 1, 1e-12);
      }
    }
}

TEST(ZonePlateProbe, ItsDefocusIsAQuadraticPhase) {
  const double outer_zone_width_m = wavelength_m / (2 * 12 * bin_rad);
  const WaveStack pupil = pupil_of(
      zone_plate_probe(window, wavelength_m, pixel_m, {120e-6, outer_zone_width_m, 0, {50e-6}}));
  const double theta_rad = 7 * bin_rad;
  const auto expected =
      std::polar(1.0, -std::numbers::pi / wavelength_m * 50e-6 * theta_rad * theta_rad);
  EXPECT_NEAR(std::abs(pupil(0, 39, 32) / pupil(0, 32, 32) - expected), 0, 1e-9);
}

/// Krivanek's polynomials written with complex angles w = theta_x + i theta_y: Re of C1 w w* / 2,
/// A1 w*^2 / 2, B2 w^2 w* (three times B2 is the coma), C3 (w w*)^2 / 4.
TEST(Aberrations, AreKrivaneksPolynomials) {
  const Aberrations all{.defocus_m = -30e-6,
                        .astigmatism_m = 8e-6,
                        .astigmatism_angle_rad = 0.4,
                        .coma_m = 7e-3,
                        .coma_angle_rad = -1.1,
                        .spherical_m = 2.5};
  for (const Vec2 theta : {Vec2{1e-3, 0}, {0, 1e-3}, {-2e-3, 1e-3}, {5e-4, -2e-3}}) {
    const std::complex<double> w(theta.x, theta.y);
    const auto a1 = std::polar(8e-6, 2 * 0.4);
    const auto b2 = std::polar(7e-3 / 3, -1.1);
    const double expected =
        std::real(-30e-6 * w * std::conj(w) / 2.0 + a1 * std::conj(w * w) / 2.0 +
                  std::conj(b2) * w * w * std::conj(w) + 2.5 * std::pow(std::norm(w), 2) / 4);
    EXPECT_NEAR(all.path_m(theta) / expected, 1, 1e-12);
  }
}

TEST(Aberrations, AreThePhaseOfThePupil) {
  const Aberrations all{-40e-6, 15e-6, 0.3, 5e-3, 2.0, 0.8};
  const WaveStack pupil =
      pupil_of(aperture_probe(window, wavelength_m, pixel_m, {10 * bin_rad, all}));
  for (const Pixel at : {Pixel{5, 3}, {-4, 6}, {0, -8}, {-7, -2}}) {
    const auto expected = std::polar(
        1.0, -2 * std::numbers::pi / wavelength_m * all.path_m({at.y * bin_rad, at.x * bin_rad}));
    EXPECT_NEAR(std::abs(pupil(0, 32 + at.y, 32 + at.x) / pupil(0, 32, 32) - expected), 0, 1e-9);
  }
}

/// Rays along the angle of the astigmatism focus where those across do not.
TEST(Aberrations, AstigmatismAddsToTheDefocusAlongItsAngle) {
  const Aberrations along_y{
      .defocus_m = 60e-6, .astigmatism_m = 60e-6, .astigmatism_angle_rad = std::numbers::pi / 2};
  const WaveStack probe = aperture_probe(window, wavelength_m, pixel_m, {10 * bin_rad, along_y});
  double wide_y = 0;
  double wide_x = 0;
  for (int y = 0; y < 64; ++y)
    for (int x = 0; x < 64; ++x) {
      wide_y += std::norm(probe(0, y, x)) * (y - 32) * (y - 32);
      wide_x += std::norm(probe(0, y, x)) * (x - 32) * (x - 32);
    }
  EXPECT_GT(wide_y, 2 * wide_x);
}

/// Defocus may balance the spherical aberration; the farthest ray decides.
TEST(Aberrations, ThatSpreadTheProbePastItsWindowAreRefused) {
  const double angle_rad = 10 * bin_rad;
  const double spherical_m = 60 * pixel_m / std::pow(angle_rad, 3);
  EXPECT_THROW(
      aperture_probe(window, wavelength_m, pixel_m, {angle_rad, {.spherical_m = spherical_m}}),
      InputError);
  const double defocus_m = -45 * pixel_m / angle_rad;
  EXPECT_NO_THROW(
      aperture_probe(window, wavelength_m, pixel_m,
                     {angle_rad, {.defocus_m = defocus_m, .spherical_m = spherical_m}}));
}

TEST(ZonePlateProbe, WithoutDimensionsIsRefused) {
  EXPECT_THROW(zone_plate_probe(window, wavelength_m, pixel_m, {0, 50e-9, 0, 0}), InputError);
  EXPECT_THROW(zone_plate_probe(window, wavelength_m, pixel_m, {100e-6, 200e-9, 100e-6, 0}),
               InputError);
}

TEST(PatternProbe, HasThatPatternAndPower) {
  ImageStack<double> pattern(1, {8, 12});
  double total = 0;
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 12; ++x) total += pattern(0, y, x) = 1 + 3 * y + (x * x) % 5;
  const WaveStack probe = pattern_probe(pattern, wavelength_m, pixel_m, {});
  EXPECT_NEAR(power(probe), total, 1e-9);
  const WaveStack wave = pupil_of(probe);  // centred; the pattern is not
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 12; ++x)
      EXPECT_NEAR(std::norm(wave(0, (y + 4) % 8, (x + 6) % 12)), pattern(0, y, x), 1e-9);
}

TEST(PatternProbe, OfAnAperturesPatternIsItsDefocusedProbe) {
  const Aberrations defocus{.defocus_m = 80e-6};
  const WaveStack expected = aperture_probe(window, wavelength_m, pixel_m, {10 * bin_rad, defocus});
  const WaveStack wave = optics::cornered(pupil_of(expected));
  ImageStack<double> pattern(1, window);
  for (std::size_t i = 0; i < pattern.size(); ++i) pattern.data()[i] = std::norm(wave.data()[i]);
  const WaveStack probe = pattern_probe(pattern, wavelength_m, pixel_m, defocus);
  for (int y = 0; y < 64; ++y)
    for (int x = 0; x < 64; ++x) EXPECT_NEAR(std::abs(probe(0, y, x) - expected(0, y, x)), 0, 1e-9);
}

/// Without phase on the detector: there the probe, by Fresnel's propagator as Goodman has it, is
/// the root of the image.
TEST(NearFieldProbe, HasItsImageOnTheDetector) {
  const geometry::Optics near{wavelength_m, pixel_m, 4e-5};
  ImageStack<double> image(1, {12, 16});
  for (int y = 0; y < 12; ++y)
    for (int x = 0; x < 16; ++x) image(0, y, x) = 2 + (5 * y + 3 * x) % 7;
  ImageStack<std::uint8_t> valid_pixels(1, image.shape(), 1);
  valid_pixels(0, 4, 5) = 0;
  image(0, 4, 5) = 1e6;
  WaveStack wave = near_field_probe(image, valid_pixels, near, {}, true);
  forward_2d(wave);
  for (int y = 0; y < 12; ++y)
    for (int x = 0; x < 16; ++x) {
      const double ky = (y < 6 ? y : y - 12) / (12 * pixel_m);
      const double kx = (x < 8 ? x : x - 16) / (16 * pixel_m);
      wave(0, y, x) *=
          std::polar(1.0, -std::numbers::pi * wavelength_m * 4e-5 * (ky * ky + kx * kx));
    }
  inverse_2d(wave);
  double around = 0;
  for (int y = 3; y <= 5; ++y)
    for (int x = 4; x <= 6; ++x)
      if (valid_pixels(0, y, x)) around += image(0, y, x) / 8;
  image(0, 4, 5) = around;
  for (std::size_t i = 0; i < image.size(); ++i)
    EXPECT_NEAR(std::abs(wave.data()[i] - std::sqrt(image.data()[i])), 0, 1e-9) << i;
}

TEST(ExtraModes, AreOrthogonalAndShareThePowerAsAsked) {
  WaveStack probe = aperture_probe(window, wavelength_m, pixel_m, {10 * bin_rad, 150e-6});
  scale_to_counts(probe, 5e5);
  const WaveStack modes = with_extra_modes(probe, 6, 0.05);
  ASSERT_EQ(modes.n(), 6);
  EXPECT_NEAR(power(modes) / 5e5, 1, 1e-12);
  EXPECT_NEAR(power(modes, 0) / 5e5, 0.75, 1e-12);
  for (int a = 1; a < 6; ++a) {
    EXPECT_NEAR(power(modes, a) / 5e5, 0.05, 1e-12) << a;
    for (int b = 0; b < a; ++b)
      EXPECT_NEAR(std::abs(overlap(modes, a, b)) / 5e5, 0, 1e-14) << a << " " << b;
  }
}

TEST(ExtraModes, KeepGivenModesUpToAFactor) {
  const WaveStack given = with_extra_modes(
      aperture_probe(window, wavelength_m, pixel_m, {10 * bin_rad, 150e-6}), 2, 0.3);
  const WaveStack modes = with_extra_modes(given, 4, 0.1);
  const double factor = std::sqrt(0.8);
  for (int mode = 0; mode < 2; ++mode)
    for (int y = 0; y < 64; ++y)
      for (int x = 0; x < 64; ++x)
        EXPECT_NEAR(std::abs(modes(mode, y, x) - factor * given(mode, y, x)), 0, 1e-12);
  EXPECT_EQ(with_extra_modes(given, 1, 0.1).n(), 1);
}

TEST(ExtraModes, StayAsCompactAsTheProbe) {
  const WaveStack modes = with_extra_modes(
      aperture_probe(window, wavelength_m, pixel_m, {10 * bin_rad, 150e-6}), 3, 0.1);
  for (int mode = 0; mode < 3; ++mode) {
    double near_edge = 0;
    for (int y = 0; y < 64; ++y)
      for (int x = 0; x < 64; ++x)
        if (std::max(std::abs(y - 32), std::abs(x - 32)) > 24)
          near_edge += std::norm(modes(mode, y, x));
    EXPECT_LT(near_edge, 0.03 * power(modes, mode)) << mode;
  }
}

TEST(ExtraModes, ThatTakeAllPowerAreRefused) {
  const WaveStack probe = aperture_probe(window, wavelength_m, pixel_m, {10 * bin_rad, 0});
  EXPECT_THROW(with_extra_modes(probe, 6, 0.2), InputError);
}

/// Of the pattern's dark pixels, too, which are 4 in 5.
TEST(FaintLight, IsAMillionthOfThePowerEvenlySpread) {
  const WaveStack sharp = aperture_probe(window, wavelength_m, pixel_m, {16 * bin_rad, 0});
  WaveStack probe = sharp;
  add_faint_light(probe);
  WaveStack again = sharp;
  add_faint_light(again);
  WaveStack added(1, window);
  for (std::size_t i = 0; i < probe.size(); ++i) {
    EXPECT_EQ(probe.data()[i], again.data()[i]);
    added.data()[i] = probe.data()[i] - sharp.data()[i];
  }
  EXPECT_NEAR(power(added) / power(sharp), 1e-6, 1e-12);
  forward_2d(added);
  int n_dark = 0;
  for (int y = 0; y < 64; ++y)
    for (int x = 0; x < 64; ++x)
      n_dark += std::norm(added(0, y, x)) < 0.01 * power(added) / 4096 ? 1 : 0;
  EXPECT_NEAR(n_dark, 41, 25) << "of speckles, one in a hundred";
}

TEST(ScaleToCounts, SetsTheSumOverAllModes) {
  WaveStack probe =
      with_extra_modes(aperture_probe(window, wavelength_m, pixel_m, {10 * bin_rad, 0}), 3, 0.1);
  scale_to_counts(probe, 1234.5);
  EXPECT_NEAR(power(probe), 1234.5, 1e-9);
  WaveStack dark(1, window);
  EXPECT_THROW(scale_to_counts(dark, 1), InputError);
}

}  // namespace
}  // namespace tessera::optics::start_probe_tests

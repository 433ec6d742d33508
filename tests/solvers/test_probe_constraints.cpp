// Probe constraints, and those that move what the data leave open between object and probe.

#include <gtest/gtest.h>

#include "solvers/tiled_object.hpp"

namespace tessera::solvers::probe_constraints_tests {
namespace {

using testing::Complex;
using testing::TiledObject;

constexpr double tolerance = 10 * testing::rounding;
constexpr settings::Onset now{0};
constexpr Shape2 window = TiledObject::window;

double power(const WaveStack& probe, int mode) {
  double sum = 0;
  for (int i = 0; i < probe.shape().size(); ++i) sum += std::norm(probe.image(mode)[i]);
  return sum;
}

/// Greatest difference of this rank's intensities over their greatest.
double relative_change(const ImageStack<double>& before, const ImageStack<double>& after) {
  double change = 0;
  double max = 1e-300;
  for (std::size_t i = 0; i < before.size(); ++i) {
    change = std::max(change, std::abs(after.data()[i] - before.data()[i]));
    max = std::max(max, before.data()[i]);
  }
  return change / max;
}

/// A round beam about the window's centre + offset, zero at the border, with a curved phase.
WaveStack round_beam(int n_images, Vec2 offset) {
  WaveStack probe(n_images, window);
  for (int i = 0; i < n_images; ++i)
    for (int y = 0; y < window.h; ++y)
      for (int x = 0; x < window.w; ++x) {
        const double dy = y - window.h / 2 - offset.y;
        const double dx = x - window.w / 2 - offset.x;
        const double r2 = dy * dy + dx * dx;
        if (r2 < 12) probe(i, y, x) = std::polar((1 - r2 / 12) / (i + 1), 0.1 * r2 + i * dx);
      }
  return probe;
}

TEST(ProbeConstraints, SupportIsADiscAboutTheCentre) {
  TiledObject tiled(1, 3);
  tiled.n_probe_modes = 2;
  tiled.apply({.probe_support = {now, 4.5}});
  WaveStack expected = tiled.probe;
  for (int i = 0; i < expected.n(); ++i)
    for (int y = 0; y < window.h; ++y)
      for (int x = 0; x < window.w; ++x)
        if (std::hypot(y - 8, x - 7) > 4.5) expected(i, y, x) = 0;
  EXPECT_LE(testing::relative_difference(testing::on_host(tiled.unknowns.probe), expected),
            tolerance);
}

TEST(ProbeConstraints, ApertureIsADiscAboutZeroFrequency) {
  TiledObject tiled(1, 2);
  tiled.n_probe_modes = 2;
  tiled.apply({.probe_aperture = {now, 5}});
  WaveStack expected = testing::dft(tiled.probe, -1);
  for (int i = 0; i < expected.n(); ++i)
    for (int y = 0; y < window.h; ++y)
      for (int x = 0; x < window.w; ++x)
        if (std::hypot(y < 8 ? y : y - 16, x < 7 ? x : x - 14) > 5) expected(i, y, x) = 0;
  expected = testing::dft(expected, +1);
  EXPECT_LE(testing::relative_difference(testing::on_host(tiled.unknowns.probe), expected),
            tolerance);
}

TEST(ProbeConstraints, WeakModesAreRaisedToTheLeastPower) {
  TiledObject tiled(1, 4);
  for (int i = 0; i < window.size(); ++i) tiled.probe.image(1)[i] *= 0.01;
  tiled.upload();
  tiled.n_probe_modes = 3;
  tiled.apply({.probe_mode_power = {now, 0.02}});
  const WaveStack probe = testing::on_host(tiled.unknowns.probe);
  double total = 0;
  for (int m = 0; m < 3; ++m) total += power(tiled.probe, m);
  EXPECT_NEAR(power(probe, 1) / (0.02 * total), 1, tolerance);
  for (const int m : {0, 2, 3})
    EXPECT_NEAR(power(probe, m) / power(tiled.probe, m), 1, tolerance) << m;
}

TEST(ProbeConstraints, PowerIsSetAndTheObjectTakesTheRest) {
  TiledObject tiled(1, 3);
  const auto before = tiled.intensities();
  tiled.n_probe_modes = 2;
  tiled.apply({.probe_power = {.from_epoch = 0, .counts = 1e4}});
  const WaveStack probe = testing::on_host(tiled.unknowns.probe);
  EXPECT_NEAR((power(probe, 0) + power(probe, 1)) / 1e4, 1, tolerance);
  EXPECT_LE(relative_change(before, tiled.intensities()), tolerance);
}

TEST(ProbeConstraints, EverySliceTakesItsShareOfThePower) {
  TiledObject tiled(4, 1);
  tiled.n_slices = 2;
  tiled.apply({.probe_power = {.from_epoch = 0, .counts = 1e4}});
  const double share = std::pow(1e4 / power(tiled.probe, 0), -0.25);
  WaveStack expected = tiled.whole;
  for (Complex& value : expected) value *= share;
  EXPECT_LE(tiled.worst(expected), tolerance);
}

/// Where the probe's far field falls on pixels that recorded it. An OPR mode is no light of its
/// own.
TEST(ProbeConstraints, WithoutAPowerTheTrustedPixelsGetThePatternsCountsLessTheBackground) {
  TiledObject tiled(1, 3);
  const auto before = tiled.intensities();
  tiled.n_probe_modes = 2;
  tiled.counts_per_pattern = 5000;
  std::vector<Real> background;
  std::vector<Real> trusted;
  double beside = 0;
  for (int i = 0; i < window.size(); ++i) {
    background.push_back(static_cast<Real>(1 + i % 5));
    trusted.push_back(i % 7 == 0 ? Real(0) : Real(1));
    beside += trusted.back() * background.back();
  }
  using View = device::DeviceView<Real**>;
  const View::array_layout layout(window.h, window.w);
  tiled.background = device::to_device<View>("background", background.data(), layout);
  tiled.trusted_by_far_field = device::to_device<View>("trusted", trusted.data(), layout);
  tiled.apply({.probe_power = {.from_epoch = 0}});
  const WaveStack far = testing::dft(testing::on_host(tiled.unknowns.probe), -1);
  double recorded = 0;
  for (int m = 0; m < tiled.n_probe_modes; ++m)
    for (int i = 0; i < window.size(); ++i)
      recorded += trusted[static_cast<std::size_t>(i)] * std::norm(far.image(m)[i]);
  EXPECT_NEAR(recorded / (5000 - beside), 1, tolerance);
  EXPECT_LE(relative_change(before, tiled.intensities()), 3 * tolerance);
}

/// Of the plane's neighbours that two cores of windows hold, as many times as the fewer.
Vec2 mean_ramp_rad(const WaveStack& object, int n_slices, const std::vector<Pixel>& corner) {
  const auto weight = [&](int y, int x) {
    int n = 0;
    for (const Pixel& c : corner) n += Box::at({c.y + 4, c.x + 3}, {8, 7}).contains(Pixel{y, x});
    return n;
  };
  Complex along_y = 0;
  Complex along_x = 0;
  for (int y = 0; y + 1 < object.h(); ++y)
    for (int x = 0; x + 1 < object.w(); ++x)
      for (int i = 0; i < object.n(); i += n_slices) {
        const Complex here = std::conj(object(i, y, x));
        along_y += double(std::min(weight(y, x), weight(y + 1, x))) * here * object(i, y + 1, x);
        along_x += double(std::min(weight(y, x), weight(y, x + 1))) * here * object(i, y, x + 1);
      }
  return {std::arg(along_y), std::arg(along_x)};
}

TEST(ProbeConstraints, ThePhaseRampGoesFromTheFirstSliceToTheProbe) {
  TiledObject tiled(4, 2);  // two object modes of two slices
  for (int i = 0; i < 4; ++i)
    for (int y = 0; y < TiledObject::shape.h; ++y)
      for (int x = 0; x < TiledObject::shape.w; ++x)
        tiled.whole(i, y, x) *= std::polar(1.0, 0.2 * y - 0.1 * x);
  tiled.upload();
  const auto before = tiled.intensities();
  const Vec2 ramp = mean_ramp_rad(tiled.whole, 2, tiled.corner);
  EXPECT_NEAR(ramp.y, 0.2, 0.05);
  EXPECT_NEAR(ramp.x, -0.1, 0.05);
  tiled.n_slices = 2;
  tiled.apply({.phase_ramp = {now}});
  WaveStack expected = tiled.whole;
  for (const int i : {0, 2})
    for (int y = 0; y < TiledObject::shape.h; ++y)
      for (int x = 0; x < TiledObject::shape.w; ++x)
        expected(i, y, x) *= std::polar(1.0, -ramp.y * (y - 30) - ramp.x * (x - 27));
  EXPECT_LE(tiled.worst(expected), 10 * tolerance);
  EXPECT_LE(relative_change(before, tiled.intensities()), tolerance);
}

TEST(ProbeConstraints, CentringMovesObjectAndProbeAndNoIntensity) {
  TiledObject tiled(2, 2);
  tiled.probe = round_beam(2, {2, -1});
  tiled.upload();
  const auto before = tiled.intensities();
  tiled.n_slices = 2;
  tiled.n_probe_modes = 2;
  for (int epoch = 0; epoch < 3; ++epoch) tiled.apply({.probe_centring = {now}}, epoch);
  EXPECT_LE(relative_change(before, tiled.intensities()), tolerance);
  EXPECT_LE(
      testing::relative_difference(testing::on_host(tiled.unknowns.probe), round_beam(2, {0, 0})),
      tolerance);
  WaveStack expected = tiled.whole;
  for (int i = 0; i < 2; ++i)
    for (int y = 0; y < expected.h(); ++y)
      for (int x = 0; x < expected.w(); ++x)
        expected(i, y, x) = tiled.whole(i, std::min(y + 2, expected.h() - 1), std::max(x - 1, 0));
  EXPECT_LE(tiled.worst(expected), tolerance);
}

}  // namespace
}  // namespace tessera::solvers::probe_constraints_tests

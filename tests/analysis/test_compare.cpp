// Ambiguities that are put in must be found and removed.

#include <cmath>
#include <complex>
#include <numbers>
#include <random>

#include <gtest/gtest.h>

#include "analysis/alignment.hpp"
#include "optics/fourier_tools.hpp"
#include "support/world.hpp"

namespace tessera::analysis {
namespace {

using Complex = std::complex<double>;
constexpr double pi = std::numbers::pi;

/// A periodic sum of a few waves that can be evaluated between pixels: exact for any shift.
class SmoothObject {
 public:
  SmoothObject(Shape2 shape, unsigned seed) : shape_(shape) {
    std::mt19937 random(seed);
    std::uniform_int_distribution<int> cycles(-12, 12);
    std::uniform_real_distribution<double> phase(0, 2 * pi);
    for (int k = 0; k < 40; ++k)
      waves_.push_back({cycles(random), cycles(random), std::polar(0.04, phase(random))});
  }
  Complex at(double y, double x) const {
    Complex sum = 1;
    for (const Wave& wave : waves_)
      sum += wave.amplitude *
             std::polar(1.0, 2 * pi * (wave.y * y / shape_.h + wave.x * x / shape_.w));
    return sum;
  }

 private:
  struct Wave {
    int y, x;
    Complex amplitude;
  };
  Shape2 shape_;
  std::vector<Wave> waves_;
};

Complex probe_mode(int mode, double y, double x) {
  const double blob = std::exp(-(y * y + x * x) / (2 * 3.5 * 3.5));
  const std::array<double, 3> factor{1.0, y / 6, x / 8};
  return 10.0 * factor[mode] * blob * std::polar(1.0, 0.02 * (y * y + 2 * x * x) + 0.1 * y);
}

struct Reconstructed {
  WaveStack object;
  WaveStack probe;
};

/// The two sides of the definition of Ambiguity, evaluated without any transform.
Reconstructed with_ambiguity(const Ambiguity& in, int n_modes, Shape2 shape) {
  const SmoothObject object(shape, 7);
  const Shape2 window{48, 44};
  Reconstructed out{WaveStack(1, shape), WaveStack(n_modes, window)};
  for (int y = 0; y < shape.h; ++y)
    for (int x = 0; x < shape.w; ++x)
      out.object(0, y, x) =
          std::polar(in.scale, in.phase_rad + in.ramp_rad_per_px.y * (y - shape.h / 2) +
                                   in.ramp_rad_per_px.x * (x - shape.w / 2)) *
          object.at(y - in.shift_px.y, x - in.shift_px.x);
  for (int m = 0; m < n_modes; ++m)
    for (int y = 0; y < window.h; ++y)
      for (int x = 0; x < window.w; ++x)
        out.probe(m, y, x) =
            std::polar(1 / in.scale, 0.3 - in.ramp_rad_per_px.y * y - in.ramp_rad_per_px.x * x) *
            probe_mode(m, y - 24 - in.shift_px.y, x - 22 - in.shift_px.x);
  return out;
}

optics::PixelSet interior(Shape2 shape) {
  optics::PixelSet region(1, shape);
  for (int y = 15; y < shape.h - 20; ++y)
    for (int x = 20; x < shape.w - 25; ++x) region(0, y, x) = 1;
  return region;
}

class FindAmbiguity : public ::testing::TestWithParam<Ambiguity> {};

TEST_P(FindAmbiguity, RecoversWhatWasPutInAndLeavesNothing) {
  const Ambiguity in = GetParam();
  const Shape2 shape{120, 131};
  const Reconstructed a = with_ambiguity(in, 1, shape);
  const Reconstructed b = with_ambiguity({}, 1, shape);
  const optics::PixelSet region = interior(shape);

  const ObjectPair pair(a.object, b.object, region, testing::world());
  const Ambiguity found = find_ambiguity(pair, a.probe, b.probe);
  EXPECT_NEAR(found.shift_px.y, in.shift_px.y, 1e-6);
  EXPECT_NEAR(found.shift_px.x, in.shift_px.x, 1e-6);
  EXPECT_NEAR(found.ramp_rad_per_px.y, in.ramp_rad_per_px.y, 1e-7);
  EXPECT_NEAR(found.ramp_rad_per_px.x, in.ramp_rad_per_px.x, 1e-7);
  EXPECT_NEAR(found.scale, in.scale, 1e-6);
  EXPECT_NEAR(std::remainder(found.phase_rad - in.phase_rad, 2 * pi), 0, 1e-6);

  EXPECT_LT(relative_difference(pair.without(found)), 1e-6);
  const WaveStack reference = shifted_like(found, b.probe);
  const WaveStack probe = modes_mixed_like(reference, probe_without(found, a.probe));
  EXPECT_LT(relative_difference(probe, reference), 1e-6);
}

// phase, ramp, scale, shift
INSTANTIATE_TEST_SUITE_P(Each, FindAmbiguity,
                         ::testing::Values(Ambiguity{}, Ambiguity{2.1, {}, 1, {}},
                                           Ambiguity{0, {0.031, -0.47}, 1, {}},
                                           Ambiguity{0, {}, 1.7, {}},
                                           Ambiguity{0, {}, 1, {0.3137, -1.4142}},
                                           Ambiguity{-2.9, {-0.213, 0.0057}, 0.4, {-2.61, 0.077}},
                                           Ambiguity{1.0, {1.9, -2.2}, 3.0, {4.3, -3.8}}));

TEST(FindAmbiguity, IgnoresWhatLiesInTheDark) {
  const Shape2 shape{120, 131};
  const Ambiguity in{0.5, {0.1, -0.2}, 1.2, {0.6, -0.4}};
  Reconstructed a = with_ambiguity(in, 1, shape);
  const Reconstructed b = with_ambiguity({}, 1, shape);
  const optics::PixelSet region = interior(shape);
  std::mt19937 random(11);
  std::normal_distribution<double> garbage(0, 2);
  for (int y = 0; y < shape.h; ++y)
    for (int x = 0; x < shape.w; ++x)
      if (!region(0, y, x)) a.object(0, y, x) = Complex(garbage(random), garbage(random));
  const ObjectPair pair(a.object, b.object, region, testing::world());
  const Ambiguity found = find_ambiguity(pair, a.probe, b.probe);
  EXPECT_NEAR(found.shift_px.y, in.shift_px.y, 1e-6);
  EXPECT_LT(relative_difference(pair.without(found)), 1e-6);
}

TEST(FindAmbiguity, MeetsNoiseWithTheNoiseOnly) {
  const Shape2 shape{120, 131};
  Reconstructed a = with_ambiguity({0.5, {0.1, -0.2}, 1.2, {0.6, -0.4}}, 1, shape);
  const Reconstructed b = with_ambiguity({}, 1, shape);
  std::mt19937 random(3);
  std::normal_distribution<double> noise(0, 0.05 * 1.2 / std::sqrt(2.0));
  for (auto& value : a.object) value += Complex(noise(random), noise(random));
  const optics::PixelSet region = interior(shape);
  const ObjectPair pair(a.object, b.object, region, testing::world());
  const Ambiguity found = find_ambiguity(pair, a.probe, b.probe);
  EXPECT_NEAR(found.shift_px.y, 0.6, 0.02);
  EXPECT_NEAR(found.shift_px.x, -0.4, 0.02);
  const double rms = std::sqrt(1 + 40 * 0.04 * 0.04);
  EXPECT_NEAR(relative_difference(pair.without(found)), 0.05 / rms, 0.002);
}

TEST(ModesMixedLike, UndoesAUnitaryMixing) {
  const WaveStack reference = with_ambiguity({}, 3, {64, 64}).probe;
  WaveStack mixed(3, reference.shape());
  // A rotation of modes 0 and 1, then of 1 and 2, each with a phase.
  const double c = std::cos(0.7);
  const double s = std::sin(0.7);
  for (int y = 0; y < mixed.h(); ++y)
    for (int x = 0; x < mixed.w(); ++x) {
      const Complex first = c * reference(0, y, x) + s * reference(1, y, x);
      const Complex second =
          std::polar(1.0, 0.4) * (c * reference(1, y, x) - s * reference(0, y, x));
      mixed(0, y, x) = first;
      mixed(1, y, x) = c * second + s * reference(2, y, x);
      mixed(2, y, x) = std::polar(1.0, -1.1) * (c * reference(2, y, x) - s * second);
    }
  EXPECT_GT(relative_difference(mixed, reference), 0.3);
  EXPECT_LT(relative_difference(modes_mixed_like(reference, mixed), reference), 1e-12);
}

TEST(ModesMixedLike, CountsAMissingModeAsDark) {
  const WaveStack reference = with_ambiguity({}, 3, {64, 64}).probe;
  WaveStack two(2, reference.shape());
  std::copy(reference.image(0), reference.image(2), two.begin());
  double total = 0;
  double third = 0;
  for (const auto& value : reference) total += std::norm(value);
  for (int y = 0; y < 48; ++y)
    for (int x = 0; x < 44; ++x) third += std::norm(reference(2, y, x));
  EXPECT_LE(relative_difference(modes_mixed_like(reference, two), reference),
            std::sqrt(third / total) + 1e-12);
}

}  // namespace
}  // namespace tessera::analysis

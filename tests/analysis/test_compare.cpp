// Ambiguities that are put in must be found and removed; ring correlations must be what they are by
// construction.

#include <cmath>
#include <complex>
#include <numbers>
#include <random>

#include <gtest/gtest.h>

#include "tessera/optics/host_fft.hpp"

#include "analysis/alignment.hpp"
#include "analysis/ring_correlation.hpp"
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

/// Complex white noise times `gain` of the spatial frequency in units of Nyquist.
template <class Gain>
WaveStack filtered_noise(Shape2 shape, unsigned seed, const Gain& gain) {
  WaveStack waves(1, shape);
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  for (auto& value : waves) value = Complex(normal(random), normal(random));
  optics::forward_2d(waves);
  for (int y = 0; y < shape.h; ++y)
    for (int x = 0; x < shape.w; ++x)
      waves(0, y, x) *=
          gain(2 * std::hypot(optics::frequency(y, shape.h), optics::frequency(x, shape.w)));
  optics::inverse_2d(waves);
  return waves;
}

WaveStack sum(WaveStack a, const WaveStack& b) {
  std::transform(a.begin(), a.end(), b.begin(), a.begin(), std::plus<>());
  return a;
}

constexpr Shape2 noise_shape{256, 240};

RingCorrelation rings_of_all(const WaveStack& a, const WaveStack& b) {
  return ring_correlation({a, b, optics::PixelSet(1, a.shape(), 1), testing::world()});
}

const auto white = [](double) { return 1.0; };

TEST(RingCorrelation, OfAnObjectWithItselfIsOne) {
  const WaveStack a = filtered_noise(noise_shape, 1, white);
  const RingCorrelation rings = rings_of_all(a, a);
  for (const double value : rings.correlation) EXPECT_NEAR(value, 1, 1e-12);
  EXPECT_EQ(resolved_fraction(rings, rings.one_bit), 1);
  EXPECT_NEAR(rings.nyquist_fraction.back(), 1, 1e-12);
}

TEST(RingCorrelation, OfIndependentNoiseIsNearZero) {
  const WaveStack a = filtered_noise(noise_shape, 1, white);
  const WaveStack b = filtered_noise(noise_shape, 2, white);
  const RingCorrelation rings = rings_of_all(a, b);
  double mean = 0;
  for (std::size_t ring = 8; ring < rings.correlation.size(); ++ring) {
    EXPECT_LT(std::abs(rings.correlation[ring]), 0.3);
    mean += rings.correlation[ring] / static_cast<double>(rings.correlation.size() - 8);
  }
  EXPECT_NEAR(mean, 0, 0.02);
  EXPECT_LT(resolved_fraction(rings, rings.half_bit), 0.1);
}

TEST(RingCorrelation, ThresholdsTendToTheirLimits) {
  const WaveStack a = filtered_noise(noise_shape, 1, white);
  const RingCorrelation rings = rings_of_all(a, a);
  // 0.5 / 1.5 and 0.2071 / 1.2071 for infinitely many samples (van Heel & Schatz 2005), from above.
  EXPECT_GT(rings.one_bit.back(), 0.3333);
  EXPECT_LT(rings.one_bit.back(), 0.42);
  EXPECT_GT(rings.half_bit.back(), 0.1716);
  EXPECT_LT(rings.half_bit.back(), 0.25);
  EXPECT_GT(rings.one_bit[2], rings.one_bit.back());
}

TEST(RingCorrelation, OneRingThatDipsIsNotTheEnd) {
  const std::vector<double> line(7, 0.5);
  const RingCorrelation rings{
      {0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, {1, 0.9, 0.3, 0.9, 0.9, 0.1, 0.1}, line, line};
  EXPECT_NEAR(resolved_fraction(rings, line), 0.45, 1e-12);
}

TEST(RingCorrelation, FallsBelowTheLinesWhereSignalAndNoiseSaySo) {
  // Power of the signal falls as 10^(-4 f) from 100 times the noise's: the correlation of two noisy
  // copies is s / (s + 1).
  const auto gain = [](double f) { return 10 * std::pow(10.0, -2 * f); };
  const WaveStack signal = filtered_noise(noise_shape, 1, gain);
  const WaveStack a = sum(signal, filtered_noise(noise_shape, 2, white));
  const WaveStack b = sum(signal, filtered_noise(noise_shape, 3, white));
  const RingCorrelation rings = rings_of_all(a, b);
  // Where s / (s + 1) meets a threshold t of about 0.37 or 0.21 at this number of samples.
  auto expected = [&](double t) { return (2 - std::log10(t / (1 - t))) / 4; };
  EXPECT_NEAR(resolved_fraction(rings, rings.one_bit), expected(0.37), 0.04);
  EXPECT_NEAR(resolved_fraction(rings, rings.half_bit), expected(0.21), 0.06);
}

/// A signal that falls with the frequency, against itself shifted, ramped and noisy; lit in an
/// ellipse.
struct NoisyCopy {
  static constexpr Shape2 shape{400, 450};
  Ambiguity in{0.7, {0.021, -0.333}, 1.2, {0.31, -1.27}};
  WaveStack a;
  WaveStack b;
  WaveStack probe = with_ambiguity({}, 1, {64, 64}).probe;
  optics::PixelSet lit{1, shape};

  NoisyCopy() {
    b = filtered_noise(shape, 1, [](double f) { return 5 * std::pow(10.0, -2.5 * f); });
    for (auto& value : b) value += 3.0;
    a = sum(optics::shifted(b, in.shift_px), filtered_noise(shape, 2, [](double) { return 0.2; }));
    for (int y = 0; y < shape.h; ++y)
      for (int x = 0; x < shape.w; ++x) {
        a(0, y, x) *= std::polar(in.scale, in.phase_rad + in.ramp_rad_per_px.y * (y - shape.h / 2) +
                                               in.ramp_rad_per_px.x * (x - shape.w / 2));
        lit(0, y, x) = std::hypot((y - 200.0) / 195, (x - 220.0) / 210) < 1;
      }
  }
};

constexpr BlockLimits small_blocks{.whole_px = 0, .side_px = 128};

double correlation_at(const RingCorrelation& rings, double fraction) {
  const double ring = fraction * static_cast<double>(rings.correlation.size() - 1);
  const auto i = static_cast<std::size_t>(ring);
  const double rest = ring - static_cast<double>(i);
  return (1 - rest) * rings.correlation.at(i) + rest * rings.correlation.at(i + 1);
}

TEST(Blocks, SayWhatTheWholeSays) {
  const NoisyCopy copy;
  const ObjectPair whole(copy.a, copy.b, copy.lit, testing::world());
  const ObjectPair blocks(copy.a, copy.b, copy.lit, testing::world(), small_blocks);
  ASSERT_EQ(whole.n_blocks(), 1);
  ASSERT_GT(blocks.n_blocks(), 16);  // more than the fit starts with
  EXPECT_EQ(blocks.n_counted(), whole.n_counted());
  EXPECT_NEAR(relative_difference(blocks) / relative_difference(whole), 1, 1e-12);
  const Ambiguity expected = find_ambiguity(whole, copy.probe, copy.probe);
  const Ambiguity found = find_ambiguity(blocks, copy.probe, copy.probe);
  // Margins of 4 pixels, where those of large blocks are 32, leave errors of a shift.
  EXPECT_NEAR(found.shift_px.y, copy.in.shift_px.y, 2e-3);
  EXPECT_NEAR(found.shift_px.x, copy.in.shift_px.x, 2e-3);
  EXPECT_NEAR(found.ramp_rad_per_px.y, expected.ramp_rad_per_px.y, 1e-6);
  EXPECT_NEAR(found.ramp_rad_per_px.x, expected.ramp_rad_per_px.x, 1e-6);
  EXPECT_NEAR(found.scale, expected.scale, 1e-4);
  EXPECT_NEAR(found.phase_rad, expected.phase_rad, 1e-4);
  EXPECT_NEAR(
      relative_difference(blocks.without(found)) / relative_difference(whole.without(expected)), 1,
      5e-3);

  const RingCorrelation of_whole = ring_correlation(whole.without(expected));
  const RingCorrelation of_blocks = ring_correlation(blocks.without(found));
  for (const double fraction : {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9})
    EXPECT_NEAR(correlation_at(of_blocks, fraction), correlation_at(of_whole, fraction), 0.05)
        << fraction;
  EXPECT_NEAR(resolved_fraction(of_blocks, of_blocks.one_bit),
              resolved_fraction(of_whole, of_whole.one_bit), 0.03);
  // The narrow rings of the whole scatter about the line, and the first that falls below it counts.
  EXPECT_NEAR(resolved_fraction(of_blocks, of_blocks.half_bit),
              resolved_fraction(of_whole, of_whole.half_bit), 0.06);
}

TEST(Blocks, SayTheSameOnAnyRanks) {
  const NoisyCopy copy;
  const comm::Communicator self(MPI_COMM_SELF);
  const ObjectPair here(copy.a, copy.b, copy.lit, self, small_blocks);
  const ObjectPair all(copy.a, copy.b, copy.lit, testing::world(), small_blocks);
  const Ambiguity alone = find_ambiguity(here, copy.probe, copy.probe);
  const Ambiguity together = find_ambiguity(all, copy.probe, copy.probe);
  EXPECT_NEAR(together.shift_px.y, alone.shift_px.y, 1e-10);
  EXPECT_NEAR(together.ramp_rad_per_px.x, alone.ramp_rad_per_px.x, 1e-12);
  EXPECT_NEAR(together.scale, alone.scale, 1e-12);
  EXPECT_NEAR(relative_difference(all.without(together)), relative_difference(here.without(alone)),
              1e-12);
  const RingCorrelation one = ring_correlation(here);
  const RingCorrelation many = ring_correlation(all);
  ASSERT_EQ(one.correlation.size(), many.correlation.size());
  for (std::size_t ring = 1; ring < one.correlation.size(); ++ring)
    EXPECT_NEAR(one.correlation[ring], many.correlation[ring], 1e-10);
}

/// What lies past the blocks' edges is found where a is shifted by more than the blocks' margins.
TEST(Blocks, FindAShiftThatIsWiderThanTheirMargins) {
  NoisyCopy copy;
  const Vec2 shift_px{17.4, -12.6};
  copy.a = optics::shifted(copy.b, shift_px);
  for (int y = 0; y < copy.shape.h; ++y)
    for (int x = 0; x < copy.shape.w; ++x)
      if (y < 40 || x < 40 || y >= copy.shape.h - 40 || x >= copy.shape.w - 40)
        copy.lit(0, y, x) = 0;
  const ObjectPair pair(copy.a, copy.b, copy.lit, testing::world(), small_blocks);
  const Ambiguity found = find_ambiguity(pair, copy.probe, copy.probe);
  EXPECT_NEAR(found.shift_px.y, shift_px.y, 1e-2);
  EXPECT_NEAR(found.shift_px.x, shift_px.x, 1e-2);
  EXPECT_LT(relative_difference(pair.without(found)), 0.01);
}

TEST(IlluminatedRegion, IsWhereAPlainSumOverWindowsSaysSo) {
  const Shape2 shape{40, 53};
  WaveStack probe(2, {9, 12});
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  for (auto& value : probe) value = Complex(normal(random), normal(random));
  const std::vector<Vec2> corners{{0, 0}, {3.4, 7.6}, {20.2, 30.9}, {31, 41}, {20.2, 31.1}};
  ImageStack<double> sum_of_windows(1, shape);
  for (const Vec2& corner : corners)
    for (int m = 0; m < 2; ++m)
      for (int y = 0; y < 9; ++y)
        for (int x = 0; x < 12; ++x)
          sum_of_windows(0, static_cast<int>(std::lround(corner.y)) + y,
                         static_cast<int>(std::lround(corner.x)) + x) += std::norm(probe(m, y, x));
  const double max = *std::max_element(sum_of_windows.begin(), sum_of_windows.end());
  const optics::PixelSet region = optics::illuminated_region(shape, corners, probe, 1, 0.2);
  for (int y = 0; y < shape.h; ++y)
    for (int x = 0; x < shape.w; ++x)
      EXPECT_EQ(region(0, y, x) != 0, sum_of_windows(0, y, x) >= 0.2 * max) << y << ", " << x;
  EXPECT_THROW(optics::illuminated_region(shape, std::vector<Vec2>{{33, 0}}, probe),
               std::exception);
}

/// Few windows are added up, many folded by transforms.
TEST(Illumination, OfFewAndManyWindowsIsTheirSum) {
  const Shape2 shape{61, 70};
  const WaveStack probe = filtered_noise({16, 16}, 3, [](double) { return 1.0; });
  std::mt19937 random(7);
  std::uniform_int_distribution<int> y_at(0, 45);
  std::uniform_int_distribution<int> x_at(0, 54);
  for (const int n : {30, 30000}) {
    std::vector<Vec2> corners;
    ImageStack<double> sum(1, shape);
    for (int i = 0; i < n; ++i) {
      const Pixel at{y_at(random), x_at(random)};
      corners.push_back(as_vec2(at));
      for (int y = 0; y < 16; ++y)
        for (int x = 0; x < 16; ++x) sum(0, at.y + y, at.x + x) += std::norm(probe(0, y, x));
    }
    const double max = *std::max_element(sum.begin(), sum.end());
    const optics::Illumination light(shape, corners, probe);
    const Box box{{7, 3}, {52, 70}};
    const ImageStack<double> found = light.in(box);
    for (int y = 0; y < box.height(); ++y)
      for (int x = 0; x < box.width(); ++x)
        ASSERT_NEAR(found(0, y, x), sum(0, 7 + y, 3 + x), 1e-12 * max) << y << ", " << x;
  }
}

}  // namespace
}  // namespace tessera::analysis

// Objects that are compared in blocks, on any number of ranks, as they are whole.

#include <cmath>
#include <complex>

#include <gtest/gtest.h>

#include "analysis/alignment.hpp"
#include "analysis/ring_correlation.hpp"
#include "support/filtered_noise.hpp"
#include "support/world.hpp"

namespace tessera::analysis {
namespace {

using testing::filtered_noise;
using testing::sum;

/// A signal that falls with the frequency, against itself shifted, ramped and noisy; lit in an
/// ellipse.
struct NoisyCopy {
  static constexpr Shape2 shape{400, 450};
  Ambiguity in{0.7, {0.021, -0.333}, 1.2, {0.31, -1.27}};
  WaveStack a;
  WaveStack b;
  WaveStack probe = filtered_noise({48, 44}, 3, [](double f) { return f < 0.3 ? 1.0 : 0.0; });
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

}  // namespace
}  // namespace tessera::analysis

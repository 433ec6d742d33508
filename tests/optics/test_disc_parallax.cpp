// Images that parts of the bright disc make of a known sample, shifted in a way that is known.

#include <array>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "optics/disc_parallax.hpp"
#include "support/texture.hpp"

namespace tessera::optics {
namespace {

const Shape2 raster{40, 30};

/// yy, yx, xy, xx: nodes for each pixel of the detector.
using Shift = std::array<double, 4>;

/// A scan that lies turned so, underfocus.
Shift turned(double shift_per_px, double rotation_rad, bool is_exchanged) {
  const double c = shift_per_px * std::cos(rotation_rad);
  const double s = shift_per_px * std::sin(rotation_rad);
  return is_exchanged ? Shift{-s, c, c, s} : Shift{c, -s, s, c};
}

/// A disc 10 blocks of 3 pixels across.
DiscImages disc_of(const Shift& shift, double noise = 8, double feature_size = 1) {
  constexpr int radius = 5;
  constexpr int block_px = 3;
  DiscImages disc{.raster = raster, .block_px = block_px, .blocks = {}, .images = {}};
  for (int y = 0; y < 2 * radius; ++y)
    for (int x = 0; x < 2 * radius; ++x)
      if (std::hypot(y + 0.5 - radius, x + 0.5 - radius) < radius) disc.blocks.push_back({y, x});
  disc.images = ImageStack<double>(static_cast<int>(disc.blocks.size()), raster);
  std::mt19937 random(1);
  std::uniform_real_distribution<double> noise_of(0, noise);
  for (std::size_t block = 0; block < disc.blocks.size(); ++block) {
    const Vec2 at = block_px * as_vec2(disc.blocks[block]);
    const Vec2 moved{shift[0] * at.y + shift[1] * at.x, shift[2] * at.y + shift[3] * at.x};
    for (int y = 0; y < raster.h; ++y)
      for (int x = 0; x < raster.w; ++x)
        disc.images(static_cast<int>(block), y, x) =
            1000 + testing::texture(Vec2{double(y), double(x)} - moved, feature_size) +
            noise_of(random);
  }
  return disc;
}

TEST(DiscParallax, IsFoundWhateverTheTurn) {
  for (const double rotation_rad : {0.0, 0.7, -1.4})
    for (const bool is_exchanged : {false, true}) {
      const auto found = turned_parallax(disc_of(turned(0.25, rotation_rad, is_exchanged)));
      EXPECT_TRUE(found.is_clear()) << rotation_rad;
      EXPECT_EQ(found.is_exchanged, is_exchanged);
      EXPECT_NEAR(found.rotation_rad, rotation_rad, 0.04);
      EXPECT_NEAR(found.shift_per_px, -0.25, 0.01);
    }
}

/// The same, the other way round.
TEST(DiscParallax, HalfATurnIsTheOtherSignOfTheShift) {
  const auto found = turned_parallax(disc_of(turned(0.25, 0.5 - std::numbers::pi, false)));
  EXPECT_NEAR(found.rotation_rad, 0.5, 0.04);
  EXPECT_NEAR(found.shift_per_px, 0.25, 0.01);
}

/// Nearly as large as the raster: the correlation is high all around.
TEST(DiscParallax, IsFoundInLargeFeatures) {
  const auto found = turned_parallax(disc_of(turned(0.4, 0.3, false), 1, 2));
  EXPECT_TRUE(found.is_clear());
  EXPECT_NEAR(found.rotation_rad, 0.3, 0.1);
  EXPECT_NEAR(found.shift_per_px, -0.4, 0.04);
}

/// More than twice the contrast, in each pixel.
TEST(DiscParallax, IsFoundInNoise) {
  const auto found = turned_parallax(disc_of(turned(0.25, 0.3, false), 30));
  EXPECT_TRUE(found.is_clear());
  EXPECT_NEAR(found.rotation_rad, 0.3, 0.1);
  EXPECT_NEAR(found.shift_per_px, -0.25, 0.03);
}

TEST(DiscParallax, IsNotClearInFocusAndOfNoise) {
  EXPECT_FALSE(turned_parallax(disc_of({0, 0, 0, 0})).is_clear());
  EXPECT_FALSE(turned_parallax(disc_of(turned(0.25, 0, false), 1e5)).is_clear());
}

/// Anywhere, and not on a raster.
TEST(DiscParallax, OfPositionsIsInObjectPixels) {
  constexpr int n_positions = 1200;
  constexpr int n_px = 24;
  constexpr int bin = 2;
  std::mt19937 random(3);
  std::uniform_real_distribution<double> anywhere(0, 240);
  std::vector<Vec2> positions;
  positions.reserve(n_positions);
  for (int i = 0; i < n_positions; ++i) positions.push_back({anywhere(random), anywhere(random)});
  for (const double shift_px : {1.5, -1.5}) {
    ImageStack<double> patterns(n_positions, {n_px, n_px});
    for (int i = 0; i < n_positions; ++i)
      for (int y = 0; y < n_px; ++y)
        for (int x = 0; x < n_px; ++x) {
          const Vec2 from_middle{y - 12.0, x - 12.0};
          if (std::hypot(from_middle.y, from_middle.x) > 9) continue;
          const Vec2 at = positions[static_cast<std::size_t>(i)] + (bin * shift_px) * from_middle;
          patterns(i, y, x) = 100 + testing::texture(at, 8);
        }
    const auto [straight, turned, radius_px] = scan_parallax(patterns, positions, bin);
    EXPECT_TRUE(straight.is_clear()) << shift_px;
    EXPECT_NEAR(straight.shift_per_px, shift_px, 0.07);
    EXPECT_NEAR(turned.shift_per_px, shift_px, 0.07);
    EXPECT_NEAR(turned.rotation_rad, 0, 0.05);
    EXPECT_NEAR(radius_px, 18, 2);
  }
}

TEST(DiscParallax, OfALineIsNotClear) {
  const std::vector<Vec2> line(100, Vec2{1, 1});
  EXPECT_FALSE(scan_parallax(ImageStack<double>(100, {24, 24}, 1), line, 2).straight.is_clear());
}

}  // namespace
}  // namespace tessera::optics

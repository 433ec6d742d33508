// Hot and stuck pixels are found, and nothing is found where light explains what there is.

#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/bad_pixels.hpp"
#include "io/hdf5_scan.hpp"
#include "io/scan_file.hpp"

namespace tessera::io {
namespace {

using namespace testing;
using tessera::testing::world;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Shape2 shape{32, 40};
constexpr int n_patterns = 100;
using Light = std::function<double(int y, int x)>;
using Counts = std::function<double(int pattern)>;

std::int64_t at(int y, int x) {
  return std::int64_t{y} * shape.w + x;
}

/// A broad spot in the middle.
double spot(int y, int x) {
  return 50 * std::exp(-(std::pow(y - 16, 2) + std::pow(x - 20, 2)) / 100.0);
}

/// Poisson counts of `light`, which moves by a fifth as a sample would make it; `broken` pixels
/// count something else.
PixelStatistics patterns_of(const Light& light, const std::map<std::int64_t, Counts>& broken) {
  std::mt19937 random(7);
  PixelStatistics statistics(shape);
  ImageStack<double> lit(1, shape);
  for (int y = 0; y < shape.h; ++y)
    for (int x = 0; x < shape.w; ++x) lit(0, y, x) = light(y, x);
  for (int p = 0; p < n_patterns; ++p)
    for (int y = 0; y < shape.h; ++y)
      for (int x = 0; x < shape.w; ++x) {
        const double mean = lit(0, y, x) * (1 + 0.2 * std::sin(p + 0.3 * y + 0.2 * x));
        const double counts = mean > 0 ? std::poisson_distribution<int>(mean)(random) : 0;
        const auto other = broken.find(at(y, x));
        statistics.add(at(y, x), other == broken.end() ? counts : other->second(p));
      }
  return statistics;
}

BadPixels found(const PixelStatistics& statistics) {
  ImageStack<std::uint8_t> in_beam(1, shape);
  for (int y = 14; y <= 18; ++y)
    for (int x = 18; x <= 22; ++x) in_beam(0, y, x) = 1;
  return find_bad_pixels(statistics, ImageStack<std::uint8_t>(1, shape, 1), in_beam);
}

Counts always(double counts) {
  return [=](int) { return counts; };
}

TEST(BadPixels, HotOnesAreFoundInTheDarkAtEdgesAndInSmallGroups) {
  const Counts noisy = [](int p) { return 300.0 + p % 17; };
  const BadPixels bad = found(patterns_of(spot, {{at(0, 0), always(20)},
                                                 {at(3, 30), noisy},
                                                 {at(3, 31), noisy},
                                                 {at(4, 30), noisy},
                                                 {at(20, 39), noisy}}));
  EXPECT_THAT(bad.hot, ElementsAre(at(0, 0), at(3, 30), at(3, 31), at(4, 30), at(20, 39)));
  EXPECT_THAT(bad.stuck, IsEmpty());
}

TEST(BadPixels, ThoseThatNeverChangeAreFoundBetweenBrightOnes) {
  const BadPixels bad = found(patterns_of(
      spot, {{at(12, 20), always(0)}, {at(16, 20), always(0)}, {at(16, 21), always(33)}}));
  EXPECT_THAT(bad.stuck, ElementsAre(at(12, 20), at(16, 20), at(16, 21)));
  EXPECT_THAT(bad.hot, IsEmpty());
}

TEST(BadPixels, DeadRowsAndColumnsAreFoundToTheirEnds) {
  std::map<std::int64_t, Counts> gap;
  for (int x = 0; x < shape.w; ++x)
    for (int y = 14; y < 20; ++y) gap[at(y, x)] = always(0);
  for (int y = 0; y < shape.h; ++y) gap[at(y, 23)] = always(0);
  const BadPixels bad = found(patterns_of(spot, gap));
  ASSERT_EQ(bad.stuck.size(), gap.size());
  for (const std::int64_t i : bad.stuck) EXPECT_TRUE(gap.contains(i));
}

TEST(BadPixels, WhatLightExplainsIsLeftAlone) {
  const auto nothing_in = [](const Light& light) {
    const BadPixels bad = found(patterns_of(light, {}));
    EXPECT_THAT(bad.hot, IsEmpty());
    EXPECT_THAT(bad.stuck, IsEmpty());
  };
  const auto radius = [](int y, int x) { return std::hypot(y - 16, x - 20); };
  for (const double brightest : {0.01, 0.1, 1.0, 10.0, 1e3, 1e6}) {
    SCOPED_TRACE(brightest);
    nothing_in([&](int y, int x) { return brightest / 50 * spot(y, x); });
    // A disc with a sharp edge, nothing beside it, and the shadow of a stop in its middle.
    nothing_in(
        [&](int y, int x) { return radius(y, x) < 10 && radius(y, x) > 3.2 ? brightest : 0; });
    // A pinhole of half the window: dark rings, narrower than pixels, which see their parts.
    nothing_in([&](int y, int x) {
      double light = 0;
      for (const double dy : {-0.4, -0.2, 0.0, 0.2, 0.4})
        for (const double dx : {-0.4, -0.2, 0.0, 0.2, 0.4}) {
          const double r = std::numbers::pi * std::hypot(y - 16 + dy, x - 20 + dx) / 2;
          light += r == 0 ? 1 : std::pow(2 * std::cyl_bessel_j(1, r) / r, 2);
        }
      return brightest * light / 25;
    });
    // A beam that falls on one pixel.
    nothing_in([&](int y, int x) { return radius(y, x) == 0 ? brightest : 1e-3 * brightest; });
  }
}

TEST(BadPixels, AFlashIsNoHotPixel) {
  const BadPixels bad =
      found(patterns_of(spot, {{at(2, 2), [](int p) { return p == 40 ? 5000.0 : 0.0; }}}));
  EXPECT_THAT(bad.hot, IsEmpty());
}

TEST(BadPixels, FlashesAreCountedButInHotPixelsAndWhereTheyAreAsCommonAsLight) {
  constexpr std::int64_t hot = 5 * 40 + 9;
  const auto n_flashes = [](int in_each_pixel) {
    PixelStatistics statistics(shape);
    for (std::int64_t i = 0; i < shape.size(); ++i)
      for (int p = 0; p < n_patterns; ++p) statistics.add(i, i == hot ? 500 + p % 3 : 1 + p % 3);
    for (std::int64_t i = 0; i < shape.size(); ++i)
      for (int k = 0; k < in_each_pixel; ++k) statistics.add_flash(i);
    for (int k = 0; k < 7; ++k) statistics.add_flash(7);
    for (int k = 0; k < n_patterns; ++k) statistics.add_flash(hot);
    return found(statistics).n_flashes;
  };
  EXPECT_EQ(n_flashes(0), 7);
  EXPECT_EQ(n_flashes(1), 0);  // one count in 100
}

/// 30 patterns of 8 x 12, bright everywhere; pixel (2, 7) is always 0 and (5, 3) always 900.
class ScanWithBadPixels : public ::testing::Test {
 protected:
  ScanWithBadPixels() {
    std::mt19937 random(3);
    std::vector<double> values;
    for (int p = 0; p < 30; ++p)
      for (int i = 0; i < 8 * 12; ++i)
        values.push_back(i == 2 * 12 + 7   ? 0
                         : i == 5 * 12 + 3 ? 900
                                           : std::poisson_distribution<int>(20)(random));
    on_root([&] {
      add_dataset(source_.path, "data", {{5, 6, 8, 12}, H5T_STD_U16LE, {1, 2, 8, 12}, 1}, values);
    });
  }

  /// Recorded pixels of bin x bin ones that are not trusted afterwards.
  std::vector<Pixel> untrusted() {
    ScanInfo info = read_scan_info(source_, world());
    bad_ = leave_out_bad_pixels(source_, world(), info);
    std::vector<Pixel> pixels;
    const auto [h, w] = info.pattern;
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x)
        if (!info.valid_pixels(0, (y + h - h / 2) % h, (x + w - w / 2) % w))
          pixels.push_back({y, x});
    return pixels;
  }

  const TemporaryFolder folder_;
  ScanSource source_{folder_.file("scan.h5"), "data", {}, {}, true};
  BadPixels bad_;
};

TEST_F(ScanWithBadPixels, EveryRankTrustsThemNoMore) {
  EXPECT_THAT(untrusted(), ElementsAre(Pixel{2, 7}, Pixel{5, 3}));
  if (!world().is_root()) return;
  EXPECT_THAT(bad_.hot, ElementsAre(5 * 12 + 3));
  EXPECT_THAT(bad_.stuck, ElementsAre(2 * 12 + 7));
}

TEST_F(ScanWithBadPixels, SumsOfPixelsAreNotTrustedWithOneOfThem) {
  source_.bin = 2;
  EXPECT_THAT(untrusted(), ElementsAre(Pixel{1, 3}, Pixel{2, 1}));
  if (!world().is_root()) return;
  EXPECT_THAT(bad_.stuck, ElementsAre(2 * 12 + 7, 5 * 12 + 3));  // which may be the beam
}

TEST_F(ScanWithBadPixels, TheyHaveTheirPlacesInTheFileThoughPatternsAreCutAndTurned) {
  source_.crop = {6, 6};
  source_.turn.flip_x = true;
  // Of the flipped detector: column 4 of 12, of which columns 3 to 8 are left.
  EXPECT_THAT(untrusted(), ElementsAre(Pixel{1, 1}, Pixel{4, 5}));
  if (!world().is_root()) return;
  EXPECT_THAT(bad_.stuck, ElementsAre(2 * 12 + 7, 5 * 12 + 3));  // which may be the beam
}

}  // namespace
}  // namespace tessera::io

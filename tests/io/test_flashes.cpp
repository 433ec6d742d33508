// Flashes are found, lone quanta of light are none, and each is ignored in its pattern alone.

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/all_patterns.hpp"
#include "io/bad_pixels.hpp"
#include "io/flashes.hpp"
#include "io/hdf5_scan.hpp"
#include "io/scan_file.hpp"
#include "io/stored_patterns.hpp"

namespace tessera::io {
namespace {

using namespace testing;
using tessera::testing::world;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Shape2 detector{48, 64};
constexpr double unlimited = std::numeric_limits<double>::infinity();

std::int64_t place(int y, int x) {
  return std::int64_t{y} * detector.w + x;
}

std::vector<std::int64_t> flashes_in(const std::vector<float>& counts,
                                     double saturation = unlimited,
                                     const std::uint8_t* mask = nullptr) {
  ImageStack<std::uint8_t> in_beam(1, detector);
  in_beam(0, 24, 32) = 1;
  std::vector<std::int64_t> flashes;
  FlashFinder(ImageStack<std::uint8_t>(1, detector, 1), in_beam)
      .for_each(counts.data(), mask, saturation, [&](std::int64_t i) { flashes.push_back(i); });
  return flashes;
}

/// Of a spot of Poisson counts, `quanta` at its brightest, each of `gain` counts.
std::vector<float> pattern(double quanta, double gain, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> counts;
  for (int y = 0; y < detector.h; ++y)
    for (int x = 0; x < detector.w; ++x) {
      const double mean =
          quanta * std::exp(-(std::pow(y - 24, 2) + std::pow(x - 32, 2)) / 200.0) + 1e-6;
      counts.push_back(static_cast<float>(gain * std::poisson_distribution<int>(mean)(random)));
    }
  return counts;
}

TEST(Flashes, AreFoundInTheDarkBesideTheLightAtCornersAndInSmallGroups) {
  std::vector<float> counts = pattern(50, 1, 3);
  const std::vector<std::int64_t> spoilt{place(0, 0),  place(3, 40),  place(3, 41), place(4, 40),
                                         place(4, 41), place(20, 50), place(47, 63)};
  for (const std::int64_t i : spoilt) counts[static_cast<std::size_t>(i)] += 400;
  EXPECT_EQ(flashes_in(counts), spoilt);
}

TEST(Flashes, AreNeitherTheBeamNorSaturatedNorMaskedNorNotANumber) {
  std::vector<float> counts(static_cast<std::size_t>(detector.size()), 1);
  counts[static_cast<std::size_t>(place(24, 32))] = 900;
  counts[static_cast<std::size_t>(place(5, 5))] = 900;
  counts[static_cast<std::size_t>(place(9, 9))] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(flashes_in(counts), ElementsAre(place(5, 5)));
  EXPECT_THAT(flashes_in(counts, 900), IsEmpty());
  std::vector<std::uint8_t> mask(counts.size(), 1);
  mask[static_cast<std::size_t>(place(5, 5))] = 0;
  EXPECT_THAT(flashes_in(counts, unlimited, mask.data()), IsEmpty());
}

/// As a disc's edge or a ring of a zone plate may be, away from the beam.
TEST(Flashes, BrightLightThatIsTwoPixelsWideIsNone) {
  std::vector<float> counts(static_cast<std::size_t>(detector.size()), 1);
  for (int y = 0; y < detector.h; ++y)
    for (const int x : {9, 10}) counts[static_cast<std::size_t>(place(y, x))] = 5000;
  EXPECT_THAT(flashes_in(counts), IsEmpty());
}

TEST(Flashes, LoneQuantaAreNoneHoweverManyCountsTheyMake) {
  for (const double gain : {1.0, 100.0})
    for (const double quanta : {0.01, 0.1, 0.5, 2.0, 30.0, 1e4})
      for (unsigned seed = 1; seed <= 20; ++seed)
        EXPECT_THAT(flashes_in(pattern(quanta, gain, seed)), IsEmpty())
            << "gain " << gain << ", quanta " << quanta << ", seed " << seed;
}

/// 30 patterns of 20 x 22; pattern 7 has a flash at (2, 19), pattern 20 at (16, 3).
class ScanWithFlashes : public ::testing::Test {
 protected:
  ScanWithFlashes() {
    std::mt19937 random(3);
    for (int p = 0; p < n; ++p)
      for (int i = 0; i < 20 * 22; ++i)
        values_.push_back(std::poisson_distribution<int>(20)(random));
    value(7, 2, 19) = 3000;
    value(20, 16, 3) = 700;
    on_root([&] {
      add_dataset(source_.path, "data", {{5, 6, 20, 22}, H5T_STD_U16LE, {1, 2, 20, 22}, 1},
                  values_);
    });
  }

  double& value(int p, int y, int x) {
    return values_[static_cast<std::size_t>((p * 20 + y) * 22 + x)];
  }

  /// A pixel of a pattern, from the middle as the detector has it; whoever owns it.
  struct Ignored {
    int position;
    Pixel pixel;
    bool operator==(const Ignored&) const = default;
  };

  /// By position. Their counts are in no sum, and all other pixels stay what they are.
  std::vector<Ignored> ignored(ScanInfo& info) {
    bad_ = leave_out_bad_pixels(source_, world(), info);
    std::vector<int> owner;
    for (int p = 0; p < n; ++p) owner.push_back((p * 5) % world().size());
    const std::vector<int> mine = positions_of(owner, world().rank());
    const AllPatterns all = read_all(source_, info, owner, mine, world(), 1);
    std::vector<std::byte> again(all.values.size());
    PatternFile(source_, info, n).read(mine, again.data());
    EXPECT_EQ(again, all.values);
    std::vector<double> counts(mine.size() * static_cast<std::size_t>(info.pattern.size()));
    with_type(info.type, [&](auto zero) {
      std::copy_n(reinterpret_cast<const decltype(zero)*>(all.values.data()), counts.size(),
                  counts.begin());
    });
    auto next = counts.begin();
    const auto [h, w] = info.pattern;
    std::vector<std::int64_t> places(static_cast<std::size_t>(n * h * w));
    std::vector<double> sums(1);
    for (const int p : mine)
      for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x) {
          const double here = *next++;
          const bool is_ignored = here >= info.saturation;
          const Pixel from_middle{(y + h / 2) % h, (x + w / 2) % w};
          places[static_cast<std::size_t>((p * h + from_middle.y) * w + from_middle.x)] =
              is_ignored;
          if (!is_ignored) sums[0] += here;
        }
    world().sum(std::span(places));
    world().sum(std::span(sums));
    EXPECT_EQ(all.total_counts, sums[0]);
    std::vector<Ignored> found;
    for (int i = 0; i < n * h * w; ++i)
      if (places[static_cast<std::size_t>(i)]) found.push_back({i / (h * w), {i / w % h, i % w}});
    return found;
  }

  static constexpr int n = 30;
  std::vector<double> values_;
  const TemporaryFolder folder_;
  ScanSource source_{folder_.file("scan.h5"), "data", {}, {}, true};
  BadPixels bad_;
};

TEST_F(ScanWithFlashes, EachIsIgnoredInItsPatternAlone) {
  ScanInfo info = read_scan_info(source_, world());
  EXPECT_EQ(info.saturation, unlimited);
  EXPECT_THAT(ignored(info), ElementsAre(Ignored{7, {2, 19}}, Ignored{20, {16, 3}}));
  EXPECT_EQ(info.saturation, 65535);
  EXPECT_EQ(info.n_trusted(), 20 * 22);
  if (world().is_root()) {
    EXPECT_EQ(bad_.n_flashes, 2);
  }
}

TEST_F(ScanWithFlashes, SumsOfPixelsAreIgnoredWithOneOfThem) {
  source_.bin = 2;
  ScanInfo info = read_scan_info(source_, world());
  EXPECT_THAT(ignored(info), ElementsAre(Ignored{7, {1, 9}}, Ignored{20, {8, 1}}));
}

TEST_F(ScanWithFlashes, TheyAreFoundThoughPatternsAreCutAndTurned) {
  source_.crop = {18, 18};
  source_.turn.flip_x = true;
  ScanInfo info = read_scan_info(source_, world());
  // Of the flipped detector: columns 2 and 18 of 22, of which columns 2 to 19 are left.
  EXPECT_THAT(ignored(info), ElementsAre(Ignored{7, {1, 0}}, Ignored{20, {15, 16}}));
}

TEST_F(ScanWithFlashes, WithoutAnyNothingIsIgnored) {
  source_.crop = {4, 4};
  ScanInfo info = read_scan_info(source_, world());
  EXPECT_THAT(ignored(info), IsEmpty());
  EXPECT_EQ(info.saturation, unlimited);
}

}  // namespace
}  // namespace tessera::io

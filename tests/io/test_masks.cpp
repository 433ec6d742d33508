// Crop, bin, padding, masks of patterns, saturation, beam stop and background, against plain loops.
#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/base/error.hpp"

#include "io/all_patterns.hpp"
#include "io/hdf5_scan.hpp"
#include "io/scan_file.hpp"

namespace tessera::io {
namespace {

using namespace testing;
using tessera::testing::world;
using ::testing::HasSubstr;

constexpr int n_positions = 12;
const Shape2 recorded{9, 10};

/// A scan of 3 x 4 positions with a mask for each pattern, some saturated pixels and a background.
class FramedScan : public ::testing::Test {
 protected:
  FramedScan() {
    for (std::size_t i = 0; i < values_.size(); ++i) own_[i] = i % 7 != 3;
    for (std::size_t i = 5; i < values_.size(); i += 31)
      values_[i] = 240 + static_cast<double>(i % 3);
    for (int i = 0; i < recorded.size(); ++i) {
      scan_mask_[static_cast<std::size_t>(i)] = i % 13 != 4;
      background_[static_cast<std::size_t>(i)] = 0.25 * i;
    }
    on_root([&] {
      add_dataset(source_.path, "data", {{3, 4, 9, 10}, H5T_STD_U8LE, {2, 2, 9, 10}, 1}, values_);
      add_dataset(source_.path, "own", {{3, 4, 9, 10}, H5T_STD_U8LE, {1, 4, 9, 10}, 1}, own_);
      add_dataset(source_.path, "scan", {{9, 10}, H5T_STD_U8LE}, scan_mask_);
      add_dataset(source_.path, "dark", {.extents = {9, 10}}, background_);
    });
  }

  /// What the patterns must be: loops over the frequencies of the pattern and their recorded
  /// pixels.
  struct Expected {
    std::vector<double> patterns;  ///< -1: ignored in this pattern
    std::vector<int> valid;
    std::vector<double> background;
  };
  Expected expected() const;
  void expect_all_right();

  const TemporaryFolder folder_;
  std::vector<double> values_ = encoded_patterns(n_positions, recorded, 2);
  std::vector<double> own_ = std::vector<double>(values_.size());
  std::vector<double> scan_mask_ = std::vector<double>(90);
  std::vector<double> background_ = std::vector<double>(90);
  ScanSource source_{folder_.file("scan.h5"), "data", {}, {}, true};
};

FramedScan::Expected FramedScan::expected() const {
  const Shape2 cut = source_.crop == Shape2{} ? recorded : source_.crop;
  const Shape2 binned{cut.h / source_.bin, cut.w / source_.bin};
  const Shape2 shape = source_.pad_to == Shape2{} ? binned : source_.pad_to;
  const auto n = static_cast<std::size_t>(shape.size());
  Expected all{std::vector<double>(n_positions * n), std::vector<int>(n), std::vector<double>(n)};
  for (int by = 0; by < binned.h; ++by)
    for (int bx = 0; bx < binned.w; ++bx) {
      const int to_y = (by - binned.h / 2 + shape.h) % shape.h;
      const int to_x = (bx - binned.w / 2 + shape.w) % shape.w;
      const auto to = static_cast<std::size_t>(to_y * shape.w + to_x);
      all.valid[to] = 1;
      for (int i = 0; i < source_.bin * source_.bin; ++i) {
        const int y = recorded.h / 2 - cut.h / 2 + by * source_.bin + i / source_.bin;
        const int x = recorded.w / 2 - cut.w / 2 + bx * source_.bin + i % source_.bin;
        const auto from = static_cast<std::size_t>(y * recorded.w + x);
        if (source_.valid_pixels == "scan" && scan_mask_[from] == 0) all.valid[to] = 0;
        if (std::hypot(y - 4, x - 5) < source_.beam_stop_radius_px) all.valid[to] = 0;
        all.background[to] += background_[from];
        for (std::size_t p = 0; p < n_positions; ++p) {
          double& sum = all.patterns[p * n + to];
          const double value = values_[p * 90 + from];
          const bool bad = value >= source_.saturation_counts ||
                           (source_.valid_pixels == "own" && own_[p * 90 + from] == 0);
          sum = sum < 0 || bad ? -1 : sum + value;
        }
      }
    }
  for (std::size_t pixel = 0; pixel < n; ++pixel) {
    if (all.valid[pixel]) continue;
    all.background[pixel] = 0;
    for (std::size_t p = 0; p < n_positions; ++p) all.patterns[p * n + pixel] = 0;
  }
  return all;
}

void FramedScan::expect_all_right() {
  const Expected right = expected();
  const ScanInfo info = read_scan_info(source_, world());
  EXPECT_TRUE(std::equal(info.valid_pixels.begin(), info.valid_pixels.end(), right.valid.begin(),
                         right.valid.end()));
  if (source_.background) {
    EXPECT_TRUE(std::equal(info.background.begin(), info.background.end(), right.background.begin(),
                           right.background.end()));
  }
  std::vector<int> owner;
  for (int p = 0; p < n_positions; ++p) owner.push_back((p * 5) % world().size());
  const std::vector<int> mine = positions_of(owner, world().rank());
  const AllPatterns patterns = read_all(source_, info, owner, mine, world(), 1);
  // The same from a reader of chosen patterns.
  std::vector<std::byte> again(patterns.values.size());
  PatternFile(source_, info, n_positions).read(mine, again.data());
  EXPECT_EQ(again, patterns.values);

  const auto n = static_cast<std::size_t>(info.pattern.size());
  int wrong = 0;
  for (std::size_t i = 0; i < mine.size() * n; ++i) {
    const double value = info.type == PatternType::u8
                             ? reinterpret_cast<const std::uint8_t*>(patterns.values.data())[i]
                             : reinterpret_cast<const std::uint16_t*>(patterns.values.data())[i];
    const double wanted = right.patterns[static_cast<std::size_t>(mine[i / n]) * n + i % n];
    if (value != (wanted < 0 ? info.saturation : wanted)) ++wrong;
  }
  EXPECT_EQ(wrong, 0);

  double total = 0;
  for (std::size_t pixel = 0; pixel < n; ++pixel) {
    double sum = 0;
    double n_ignored = 0;
    for (std::size_t p = 0; p < n_positions; ++p) {
      sum += std::max(0.0, right.patterns[p * n + pixel]);
      n_ignored += right.patterns[p * n + pixel] < 0;
    }
    EXPECT_EQ(patterns.sum.data()[pixel], sum);
    EXPECT_EQ(patterns.n_ignored.data()[pixel], n_ignored);
    total += sum;
  }
  EXPECT_EQ(patterns.total_counts, total);
  for (std::size_t p = 0; p < n_positions; ++p) {
    double counts = 0;
    Vec2 moment;
    for (std::size_t pixel = 0; pixel < n; ++pixel) {
      const double value = std::max(0.0, right.patterns[p * n + pixel]);
      const int y = static_cast<int>(pixel) / info.pattern.w;
      const int x = static_cast<int>(pixel) % info.pattern.w;
      counts += value;
      moment.y += value * (2 * y < info.pattern.h ? y : y - info.pattern.h);
      moment.x += value * (2 * x < info.pattern.w ? x : x - info.pattern.w);
    }
    EXPECT_EQ(patterns.moments_of_all[p].counts, counts);
    EXPECT_NEAR(patterns.moments_of_all[p].centre_px.y, moment.y / counts, 1e-12);
    EXPECT_NEAR(patterns.moments_of_all[p].centre_px.x, moment.x / counts, 1e-12);
  }
}

TEST_F(FramedScan, OfEveryPatternIgnoreItsPixels) {
  source_.valid_pixels = "own";
  expect_all_right();
}

TEST_F(FramedScan, SaturatedPixelsAreIgnored) {
  source_.valid_pixels = "scan";
  source_.saturation_counts = 240;
  source_.background = "dark";
  expect_all_right();
}

TEST_F(FramedScan, TheBeamStopIsADisc) {
  source_.beam_stop_radius_px = 2.5;
  expect_all_right();
}

TEST_F(FramedScan, CutBinnedAndPaddedAlike) {
  source_.crop = {8, 8};
  source_.bin = 2;
  source_.pad_to = {7, 6};
  source_.background = "dark";
  for (const char* mask : {"scan", "own"})
    for (const double saturation : {std::numeric_limits<double>::infinity(), 241.0}) {
      source_.valid_pixels = mask;
      source_.saturation_counts = saturation;
      expect_all_right();
    }
  source_.valid_pixels = {};
  source_.crop = {9, 9};
  source_.bin = 3;
  source_.pad_to = {};
  expect_all_right();
}

TEST_F(FramedScan, ThatDoNotFitAreRefused) {
  const auto info_error = [&] { return agreed_error([&] { read_scan_info(source_, world()); }); };
  source_.crop = {9, 11};
  EXPECT_THAT(info_error(), HasSubstr("data.crop = [9, 11] is larger"));
  source_.crop = {};
  source_.bin = 2;
  EXPECT_THAT(info_error(), HasSubstr("set data.crop = [8, 10]"));
  source_.crop = {8, 8};
  source_.pad_to = {4, 3};
  EXPECT_THAT(info_error(), HasSubstr("data.pad_to = [4, 3] is smaller"));
  source_.pad_to = {};
  source_.beam_stop_radius_px = 20;
  EXPECT_THAT(info_error(), HasSubstr("data.beam_stop_radius_px"));
  source_.beam_stop_radius_px = 0;
  source_.background = "own";
  EXPECT_THAT(info_error(), HasSubstr("data.background = \"own\""));
}

TEST(Mask, OfPatternsThatAreNoneIsRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.file("scan.h5");
  on_root([&] {
    add_dataset(path, "data", {.extents = {1}}, {1});
    add_dataset(path, "mask", {{1, 1}, H5T_STD_U8LE}, {1});
  });
  const ScanSource source{path, "data", {}, "mask", false};
  const auto reader = open_hdf5_scan(File::open(path), source);
  EXPECT_THROW(reader->valid_pixels(), InputError);
  EXPECT_THROW(reader->has_own_masks(), InputError);
}

}  // namespace
}  // namespace tessera::io

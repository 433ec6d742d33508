// Comparing files whose objects have different extents, and what cannot be compared.

#include <cmath>
#include <complex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tessera/base/error.hpp"
#include "tessera/base/random.hpp"
#include "tessera/io/hdf5.hpp"

#include "analysis/compare.hpp"
#include "support/scratch_folder.hpp"
#include "support/world.hpp"

namespace tessera::analysis {
namespace {

using Json = nlohmann::json;
constexpr double pixel_m = 2e-8;
constexpr Shape2 window{24, 20};

std::complex<double> object_at(double y, double x) {
  return std::polar(1 + 0.1 * std::sin(0.31 * y + 0.2 * x), 0.5 * std::cos(0.23 * x - 0.17 * y));
}

void write_waves(io::File& file, const std::string& name, const WaveStack& waves) {
  const io::Extents extents{waves.n(), waves.h(), waves.w()};
  file.create_dataset(name, extents, io::ElementType::complex128);
  file.write_slab(name, {0, 0, 0}, extents, io::ElementType::complex128, waves.data());
}

/// A raster of 5 x 5 windows at 8 px on an object whose pixel (0, 0) lies at `origin` of the
/// sample; the object times `factor`, the probe divided by it.
void write_file(const std::string& path, const std::string& group, Pixel origin,
                std::complex<double> factor) {
  io::File file = io::File::create(path);
  WaveStack object(1, {64 - origin.y, 64 - origin.x});
  for (int y = 0; y < object.h(); ++y)
    for (int x = 0; x < object.w(); ++x)
      object(0, y, x) = factor * object_at(y + origin.y, x + origin.x);
  WaveStack probe(1, window);
  for (int y = 0; y < window.h; ++y)
    for (int x = 0; x < window.w; ++x)
      probe(0, y, x) = std::exp(-(std::pow(y - 12, 2) + std::pow(x - 10, 2)) / 30.0) / factor;
  std::vector<double> positions_m, corners_px;
  for (int j = 0; j < 25; ++j) {
    const Pixel corner{4 + 8 * (j / 5), 6 + 8 * (j % 5)};
    positions_m.insert(positions_m.end(), {corner.y * pixel_m - 1e-6, corner.x * pixel_m - 2e-6});
    corners_px.insert(corners_px.end(), {corner.y - 1.0 * origin.y, corner.x - 1.0 * origin.x});
  }
  write_waves(file, group + "object", object);
  write_waves(file, group + "probe", probe);
  file.write_doubles(group + "window_corner_px", {25, 2}, corners_px);
  file.write_doubles("positions_m", {25, 2}, positions_m);
  file.set_attribute("/", "object_pixel_m", pixel_m);
  file.close();
}

class CompareFiles : public ::testing::Test {
 protected:
  tessera::testing::ScratchFolder folder_;
  std::string a_ = folder_.path("result.h5");
  std::string b_ = folder_.path("simulation.h5");
};

TEST_F(CompareFiles, AResultWithItselfHasNoDifference) {
  write_file(a_, "", {0, 0}, 1);
  const Reconstruction a = read_reconstruction(a_);
  const Comparison comparison = compare(a, a, testing::world());
  EXPECT_EQ(comparison.before.object, 0);
  EXPECT_LT(comparison.after.object, 1e-12);
  EXPECT_LT(comparison.after.probe, 1e-12);
  EXPECT_EQ(comparison.one_bit_fraction, 1);
}

TEST_F(CompareFiles, AResultOnASmallerGridMeetsTheTruth) {
  write_file(a_, "", {3, 2}, std::polar(1.5, 0.7));
  write_file(b_, "truth/", {0, 0}, 1);
  const Comparison comparison =
      compare(read_reconstruction(a_), read_reconstruction(b_), testing::world());
  EXPECT_EQ(comparison.grid_offset_px, (Vec2{3, 2}));
  EXPECT_NEAR(comparison.before.object, std::abs(std::polar(1.5, 0.7) - 1.0), 1e-9);
  EXPECT_NEAR(comparison.removed.scale, 1.5, 1e-9);
  EXPECT_NEAR(comparison.removed.phase_rad, 0.7, 1e-9);
  EXPECT_LT(comparison.after.object, 1e-9);
  EXPECT_LT(comparison.after.probe, 1e-9);
  EXPECT_EQ(comparison.one_bit_fraction, 1);

  const Json report = Json::parse(compare_report(comparison, true));
  EXPECT_DOUBLE_EQ(report["resolution"]["one_bit_half_period_m"], pixel_m);
  EXPECT_NEAR(report["removed"]["scale"], 1.5, 1e-9);
  EXPECT_THAT(compare_report(comparison, false), ::testing::HasSubstr("1 bit"));
}

TEST_F(CompareFiles, PositionsDifferByWhatTheyMovedAfterTheirMeanIsRemoved) {
  write_file(a_, "", {0, 0}, 1);
  Reconstruction a = read_reconstruction(a_);
  const Reconstruction b = a;
  for (std::size_t i = 0; i < 25; ++i) {
    a.window_corner_px[i].y += 0.3;
    a.window_corner_px[i].x += i < 5 ? 0.5 : i < 10 ? -0.5 : 0.0;
  }
  const Comparison comparison = compare(a, b, testing::world());
  EXPECT_NEAR(comparison.position_error_px.value_or(0), 0.5 * std::sqrt(10.0 / 25), 1e-12);
  EXPECT_THAT(compare_report(comparison, false), ::testing::HasSubstr("px rms apart"));
  a.window_corner_px.pop_back();
  EXPECT_FALSE(compare(a, b, testing::world()).position_error_px.has_value());
}

/// Two slices; that of `which` seen by itself.
std::complex<double> slice_at(int which, int y, int x) {
  const std::uint64_t seed = static_cast<std::uint64_t>(which) + 1;
  const auto pixel = static_cast<std::uint64_t>(y * 64 + x);
  return std::polar(1.0, 0.3 * random_unit(seed, pixel));
}

TEST_F(CompareFiles, AGhostOfAnotherSliceIsAsStrongAsWasPutIn) {
  write_file(a_, "", {0, 0}, 1);
  Reconstruction b = read_reconstruction(a_);
  Reconstruction a = b;
  WaveStack slices_of_a(2, {64, 64});
  WaveStack slices_of_b = slices_of_a;
  for (int y = 0; y < 64; ++y)
    for (int x = 0; x < 64; ++x) {
      const std::complex<double> first = slice_at(0, y, x);
      const std::complex<double> second = slice_at(1, y, x);
      slices_of_b(0, y, x) = first;
      slices_of_b(1, y, x) = second;
      // What only differs by a phase of its slice is the same.
      slices_of_a(0, y, x) = std::polar(1.0, 0.4) * (first + 0.08 * (second - 1.0));
      slices_of_a(1, y, x) = std::polar(1.0, -0.4) * second;
    }
  a.object = slices_of_a;
  b.object = slices_of_b;
  const Comparison comparison = compare(a, b, testing::world());
  ASSERT_EQ(comparison.slices.size(), 2u);
  EXPECT_NEAR(comparison.slices[0].cross_talk, 0.08, 0.005);
  EXPECT_NEAR(comparison.slices[0].strengths[0], 1, 0.02);
  EXPECT_LT(comparison.slices[1].cross_talk, 0.002);
  EXPECT_NEAR(comparison.slices[1].strengths[1], 1, 0.002);
  EXPECT_LT(comparison.slices[1].difference, 1e-6);
  EXPECT_EQ(comparison.slices[1].one_bit_fraction, 1);
  const Json report = Json::parse(compare_report(comparison, true));
  EXPECT_NEAR(report["slices"][0]["cross_talk"], 0.08, 0.005);
  EXPECT_EQ(report["slices"][1]["strength_of_slices"].size(), 2u);
  EXPECT_THAT(compare_report(comparison, false), ::testing::HasSubstr("slice 1"));
}

TEST_F(CompareFiles, RefusesUnequalPixels) {
  write_file(a_, "", {0, 0}, 1);
  Reconstruction a = read_reconstruction(a_);
  const Reconstruction b = a;
  a.pixel_m = 2 * pixel_m;
  EXPECT_THROW(compare(a, b, testing::world()), InputError);
}

TEST_F(CompareFiles, RefusesPixelsThatAreNoLength) {
  for (const double wrong : {std::nan(""), 0.0, -1e-8}) {
    write_file(a_, "", {0, 0}, 1);
    io::File file = io::File::open_to_add(a_);
    file.set_attribute("/", "object_pixel_m", wrong);
    file.close();
    EXPECT_THROW(read_reconstruction(a_), InputError) << wrong;
  }
}

TEST_F(CompareFiles, RefusesObjectsApart) {
  write_file(a_, "", {0, 0}, 1);
  Reconstruction a = read_reconstruction(a_);
  const Reconstruction b = a;
  a.origin_m->y += 100 * pixel_m;
  EXPECT_THROW(compare(a, b, testing::world()), InputError);
}

TEST_F(CompareFiles, RefusesAFileWithoutObject) {
  io::File::create(a_).close();
  EXPECT_THROW(read_reconstruction(a_), InputError);
}

}  // namespace
}  // namespace tessera::analysis

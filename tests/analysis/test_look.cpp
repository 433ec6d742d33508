// Images of a scan against what is known of them, and the same words on any number of ranks.
#include <cmath>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/base/text.hpp"
#include "tessera/io/hdf5.hpp"

#include "analysis/look.hpp"
#include "analysis/look_images.hpp"
#include "support/world.hpp"

namespace tessera::analysis {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::world;

constexpr double two_pi = 6.283185307179586;

TEST(LookImages, PotentialIsWhatTheFieldIsTheGradientOf) {
  const Shape2 raster{24, 32};
  std::vector<Vec2> field;
  std::vector<double> expected;
  for (int y = 0; y < raster.h; ++y)
    for (int x = 0; x < raster.w; ++x) {
      const double ky = two_pi * 2 / raster.h;
      const double kx = two_pi * 3 / raster.w;
      expected.push_back(std::sin(ky * y + kx * x));
      field.push_back({ky * std::cos(ky * y + kx * x), kx * std::cos(ky * y + kx * x)});
    }
  const std::vector<double> found = potential(field, raster);
  const std::vector<double> change = divergence(field, raster);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-9);
  const double ky = two_pi * 2 / raster.h;
  const double kx = two_pi * 3 / raster.w;
  const std::size_t inside = 5 * 32 + 7;
  EXPECT_NEAR(change[inside], -(ky * std::sin(ky) + kx * std::sin(kx)) * expected[inside], 1e-9);
}

TEST(LookImages, PixelsThatStandOut) {
  const Shape2 shape{6, 8};
  std::vector<double> sum(48, 50);
  sum[1 * 8 + 2] = 600;  // zero frequency at [0, 0]: the detector's (4, 6)
  sum[5 * 8 + 7] = 0;    // (2, 3)
  EXPECT_THAT(hot_pixels(sum, shape), ElementsAre(Pixel{4, 6}));
  EXPECT_THAT(dead_pixels(sum, shape), ElementsAre(Pixel{2, 3}));
}

TEST(LookImages, SpotsLieWhereTheScanWent) {
  const ImageStack<double> image = spots_at({{0, 0}, {0, 2e-6}, {1e-6, 1e-6}}, {1, 2, 3});
  EXPECT_EQ(image.shape(), (Shape2{32, 64}));
  EXPECT_EQ(image(0, 0, 0), 1);
  EXPECT_EQ(image(0, 0, 63), 2);
  EXPECT_EQ(image(0, 31, 31), 3);
  EXPECT_EQ(image(0, 16, 16), 0);
}

/// A disc of radius 3 whose counts are 10 + the position's number, and a pixel outside with 1.
void write_scan(const std::string& path) {
  io::File file = io::File::create(path);
  std::vector<double> counts;
  for (int p = 0; p < 30; ++p)
    for (int y = 0; y < 16; ++y)
      for (int x = 0; x < 16; ++x) {
        const bool is_lit = std::hypot(y - 8, x - 8) <= 3;
        counts.push_back(is_lit ? 10 + p : y == 2 && x == 2 ? 1 : 0);
      }
  file.create_dataset("data", {5, 6, 16, 16}, io::ElementType::u16);
  file.write_slab("data", {0, 0, 0, 0}, {5, 6, 16, 16}, io::ElementType::f64, counts.data());
  file.close();
}

TEST(Look, CountsWhatIsInTheDisc) {
  const std::string path = text("test_look_", world().size(), ".h5");
  world().together([&] {
    if (world().is_root()) write_scan(path);
  });
  const std::string words = look(path, "", world());
  world().together([&] {
    if (world().is_root()) std::filesystem::remove(path);
  });
  if (!world().is_root()) return;
  // 29 pixels in the disc.
  EXPECT_THAT(words, AllOf(HasSubstr("30 of 16 x 16"), HasSubstr("least 291, half below 697"),
                           HasSubstr("most 1132"), HasSubstr("0, 0 px off the middle"),
                           HasSubstr("radius 3.03"), HasSubstr("99.8")));
}

}  // namespace
}  // namespace tessera::analysis

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/base/error.hpp"
#include "tessera/base/random.hpp"
#include "tessera/geometry/windows.hpp"

namespace tessera::geometry {
namespace {

constexpr Shape2 window{16, 24};

TEST(Windows, AreLaidByHand) {
  const std::vector<Vec2> positions_m{{1.0, 5.0}, {2.0, 4.0}, {1.9, 6.25}};
  const WindowGrid grid = lay_windows(positions_m, window, 0.5);
  EXPECT_EQ(grid.origin_m, (Vec2{1.0, 4.0}));
  EXPECT_THAT(grid.corner, testing::ElementsAre(Pixel{0, 2}, Pixel{2, 0}, Pixel{2, 5}));
  EXPECT_NEAR(grid.subpixel[2].y, -0.2, 1e-12);
  EXPECT_EQ(grid.subpixel[2].x, -0.5);  // 4.5 pixels
  EXPECT_EQ(grid.object, (Shape2{2 + 16, 5 + 24}));
  EXPECT_EQ(grid.window, window);
  EXPECT_EQ(grid.pixel_m, 0.5);
}

TEST(Windows, CornerAndSubpixelGiveThePositionBack) {
  constexpr double pixel_m = 13.7e-9;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    std::vector<Vec2> positions_m = raster_scan(4, 6, {41e-9, 77e-9}, 0.3);
    jitter(positions_m, 5e-8, seed);
    const WindowGrid grid = lay_windows(positions_m, window, pixel_m);
    Box all;
    for (std::size_t i = 0; i < positions_m.size(); ++i) {
      const auto [y, x] = grid.subpixel[i];
      EXPECT_TRUE(y >= -0.5 && y < 0.5 && x >= -0.5 && x < 0.5) << y << " " << x;
      EXPECT_NEAR(grid.origin_m.y + (grid.corner[i].y + y) * pixel_m, positions_m[i].y, 1e-20);
      EXPECT_NEAR(grid.origin_m.x + (grid.corner[i].x + x) * pixel_m, positions_m[i].x, 1e-20);
      all = hull(all, Box::at(grid.corner[i], window));
    }
    EXPECT_EQ(all, Box::at({0, 0}, grid.object));
  }
}

TEST(Windows, HalfAPixelBelongsToTheNextCorner) {
  const double almost_half = std::nextafter(0.5, 0.0);  // floor(almost_half + 0.5) would be 1
  const std::vector<Vec2> positions_m{{0, 0}, {0.5, almost_half}};
  const WindowGrid grid = lay_windows(positions_m, window, 1.0);
  EXPECT_EQ(grid.corner[1], (Pixel{1, 0}));
  EXPECT_EQ(grid.subpixel[1], (Vec2{-0.5, almost_half}));
}

TEST(Windows, SubpixelPartsAreRoundedToBins) {
  WindowGrid grid;
  grid.subpixel = {{0, -0.5}, {0.499, 0.1}, {-0.03, 0.0312}, {0.25, -0.1875}};
  round_subpixel(grid, 16);
  EXPECT_THAT(grid.subpixel, testing::ElementsAre(Vec2{0, -0.5}, Vec2{0.5, 0.125}, Vec2{0, 0},
                                                  Vec2{0.25, -0.1875}));
}

TEST(Windows, EqualPartsHaveEqualBins) {
  for (const int bins : {1, 16, 64}) {
    WindowGrid grid;
    for (int y = -bins; y <= bins; ++y)
      for (int x = -bins; x <= bins; ++x)
        grid.subpixel.push_back({0.5 * y / bins, 0.4999 * x / bins});
    const std::vector<std::uint16_t> bin = subpixel_bins(grid, bins);
    round_subpixel(grid, bins);
    std::map<std::pair<double, double>, std::set<int>> bins_of;
    std::set<int> all;
    for (std::size_t i = 0; i < bin.size(); ++i) {
      bins_of[{grid.subpixel[i].y, grid.subpixel[i].x}].insert(bin[i]);
      all.insert(bin[i]);
    }
    EXPECT_EQ(bins_of.size(), all.size()) << bins;
    for (const auto& [part, found] : bins_of) EXPECT_EQ(found.size(), 1u) << bins;
  }
}

TEST(Windows, OnePositionMakesAnObjectOfOneWindow) {
  const std::vector<Vec2> positions_m{{-3e-6, 7e-6}};
  const WindowGrid grid = lay_windows(positions_m, window, 1e-8);
  EXPECT_EQ(grid.object, window);
  EXPECT_EQ(grid.corner[0], (Pixel{0, 0}));
  EXPECT_EQ(grid.subpixel[0], (Vec2{0, 0}));
}

TEST(Windows, AMarginWidensTheObjectOnEverySideAndMovesNothing) {
  std::vector<Vec2> positions_m = raster_scan(4, 6, {41e-9, 77e-9}, 0.3);
  const WindowGrid tight = lay_windows(positions_m, window, 13.7e-9);
  const WindowGrid wide = lay_windows(positions_m, window, 13.7e-9, 5);
  EXPECT_EQ(wide.object, (Shape2{tight.object.h + 10, tight.object.w + 10}));
  EXPECT_EQ(wide.subpixel, tight.subpixel);
  for (std::size_t i = 0; i < positions_m.size(); ++i) {
    EXPECT_EQ(wide.corner[i], (Pixel{tight.corner[i].y + 5, tight.corner[i].x + 5}));
    EXPECT_NEAR(wide.origin_m.y + (wide.corner[i].y + wide.subpixel[i].y) * 13.7e-9,
                positions_m[i].y, 1e-20);
  }
}

TEST(Windows, AScanInTheWrongUnitIsRefused) {
  const std::vector<Vec2> micrometres{{0, 0}, {0, 50}};
  EXPECT_THROW(lay_windows(micrometres, window, 1e-8), InputError);
  const int max = 16777216 - window.w;
  EXPECT_EQ(lay_windows(std::vector<Vec2>{{0, 0}, {0, double(max)}}, window, 1).object.w, 16777216);
  EXPECT_THROW(lay_windows(std::vector<Vec2>{{0, 0}, {0, max + 1.0}}, window, 1), InputError);
  // Neither side too long, but 2^36 pixels and one row more.
  const double side = 262144;
  EXPECT_THROW(
      lay_windows(std::vector<Vec2>{{0, 0}, {side - window.h + 1, side - window.w}}, window, 1),
      InputError);
}

TEST(Windows, AMessageNamesThePositionThatIsNotFinite) {
  const std::vector<Vec2> positions_m{{0, 0}, {0, std::nan("")}};
  try {
    lay_windows(positions_m, window, 1e-8);
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("data.positions[1]"));
  }
}

TEST(Windows, NeedPositionsAndAPixel) {
  const std::vector<Vec2> positions_m{{0, 0}};
  EXPECT_THROW(lay_windows({}, window, 1e-8), InputError);
  EXPECT_THROW(lay_windows(positions_m, window, 0), InputError);
  EXPECT_THROW(lay_windows(positions_m, window, std::nan("")), InputError);
}

}  // namespace
}  // namespace tessera::geometry

// Columns that are moved, and dopants that are smeared along the beam, by known amounts.

#include <cmath>

#include <gtest/gtest.h>

#include "analysis/compare_columns.hpp"
#include "support/world.hpp"

namespace tessera::analysis {
namespace {

using testing::world;

constexpr Shape2 shape{90, 84};
constexpr double sigma_px = 1.3;
constexpr double apart_px = 9;

double bell(double distance, double sigma) {
  return std::exp(-distance * distance / (2 * sigma * sigma));
}

/// A square lattice of columns in slices at uneven depths, two of them doped.
KnownColumns lattice() {
  KnownColumns known;
  for (int row = 0; row < 9; ++row)
    for (int column = 0; column < 8; ++column) {
      known.at_px.push_back({8.3 + apart_px * row, 9.1 + apart_px * column});
      known.kind.push_back(column % 2);
    }
  known.sigma_px = sigma_px;
  known.depth_m = {0, 1e-9, 2e-9, 4e-9, 5e-9, 6e-9, 7e-9, 9e-9};
  known.dopants = {{18, 3}, {45, 5}};
  return known;
}

/// Every column `moved_px` by its number; the dopant's 0.3 rad are a Gaussian along z.
template <class Moved>
WaveStack object_of(const KnownColumns& known, const Moved& moved_px, double spread_m) {
  WaveStack object(static_cast<int>(known.depth_m.size()), shape);
  for (int s = 0; s < object.n(); ++s)
    for (int y = 0; y < shape.h; ++y)
      for (int x = 0; x < shape.w; ++x) {
        double phase = 3;  // near where it wraps
        for (std::size_t i = 0; i < known.at_px.size(); ++i) {
          const Vec2 at = known.at_px[i] + moved_px(i);
          double height = 0.2 + 0.2 * known.kind[i];
          for (const KnownColumns::Dopant& dopant : known.dopants)
            if (dopant.column == i)
              height += 0.3 * bell(known.depth_m[static_cast<std::size_t>(s)] -
                                       known.depth_m[dopant.slice],
                                   spread_m);
          phase += height * bell(std::hypot(y - at.y, x - at.x), sigma_px);
        }
        object(s, y, x) = std::polar(1.0, phase);
      }
  return object;
}

TEST(CompareColumns, FindsWaysAndDepthsThatWerePutIn) {
  const KnownColumns known = lattice();
  const auto stay = [](std::size_t) { return Vec2{}; };
  // All alike, which the mean takes, and to and fro.
  const auto move = [](std::size_t i) {
    return Vec2{0.4 + (i % 2 == 0 ? 0.05 : -0.05), -0.2 + (i / 2 % 2 == 0 ? 0.12 : -0.12)};
  };
  const optics::PixelSet lit(1, shape, 1);
  const ObjectPair pair(object_of(known, move, 1.1e-9), object_of(known, stay, 1e-12), lit, world(),
                        {.whole_px = 1 << 12, .side_px = 64});
  const ColumnComparison found = compare_columns(pair, known, {4, 4}, {85, 60});
  EXPECT_EQ(found.n_columns, 9 * 6);
  // Along x two of three pairs of columns go 0.12, one -0.12: 0.08 and -0.16 from their mean.
  EXPECT_NEAR(found.rms_px, std::sqrt(0.05 * 0.05 + (2 * 0.08 * 0.08 + 0.16 * 0.16) / 3), 2e-3);
  EXPECT_NEAR(found.worst_px, std::hypot(0.05, 0.16), 4e-3);
  EXPECT_EQ(found.n_dopants, 2);
  EXPECT_NEAR(found.depth_fwhm_m, 2.355 * 1.1e-9, 0.1e-9);
  EXPECT_LT(found.depth_rms_m, 0.05e-9);
}

TEST(CompareColumns, TheScansAffineMapIsTakenApart) {
  const KnownColumns known = lattice();
  const auto stay = [](std::size_t) { return Vec2{}; };
  // Sheared and stretched by up to half a pixel, and every second row 0.06 to and fro.
  const auto move = [&](std::size_t i) {
    const Vec2 at = known.at_px[i];
    return Vec2{0.006 * (at.x - 40) + (i / 8 % 2 == 0 ? 0.06 : -0.06), 0.009 * (at.y - 45)};
  };
  const ObjectPair pair(object_of(known, move, 1e-9), object_of(known, stay, 1e-9),
                        optics::PixelSet(1, shape, 1), world());
  const ColumnComparison found = compare_columns(pair, known, {0, 0}, {90, 84});
  EXPECT_GT(found.rms_px, 0.2);
  EXPECT_NEAR(found.affine_rms_px, 0.06, 2e-3);
}

TEST(CompareColumns, OfOneSliceTellsPlacesAlone) {
  KnownColumns known = lattice();
  known.depth_m = {0};
  known.dopants.clear();
  const auto stay = [](std::size_t) { return Vec2{}; };
  const WaveStack object = object_of(known, stay, 1);
  const ObjectPair pair(object, object, optics::PixelSet(1, shape, 1), world());
  const ColumnComparison found = compare_columns(pair, known, {0, 0}, {90, 84});
  EXPECT_EQ(found.n_columns, 9 * 8);
  EXPECT_LT(found.rms_px, 1e-4);
  EXPECT_EQ(found.n_dopants, 0);
}

}  // namespace
}  // namespace tessera::analysis

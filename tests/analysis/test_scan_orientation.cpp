// How a raster went over the sample: a sample that is known, scanned in a way that is known.
#include <cmath>

#include <gtest/gtest.h>

#include "analysis/init_steps.hpp"
#include "analysis/raster_columns.hpp"
#include "analysis/scan_orientation.hpp"
#include "support/texture.hpp"

namespace tessera::analysis {
namespace {

const Shape2 raster{40, 30};

/// Gradient of a smooth phase without symmetry at a place of the detector's axes.
Vec2 gradient(Vec2 at) {
  return {std::cos(0.31 * at.y + 0.2 * at.x) + 0.4 * std::cos(0.23 * at.y),
          0.2 / 0.31 * std::cos(0.31 * at.y + 0.2 * at.x) - 0.7 * std::sin(0.37 * at.x)};
}

/// Centres of mass of a raster turned by `rotation_rad`, from +x towards +y.
std::vector<Vec2> centres(double rotation_rad, bool transposed) {
  std::vector<Vec2> all;
  const double c = std::cos(rotation_rad);
  const double s = std::sin(rotation_rad);
  for (int y = 0; y < raster.h; ++y)
    for (int x = 0; x < raster.w; ++x) {
      const Vec2 found = gradient({s * x + c * y, c * x - s * y});
      all.push_back(transposed ? Vec2{found.x, found.y} : found);
    }
  return all;
}

TEST(ScanOrientation, IsFoundUpToHalfATurn) {
  for (const bool transposed : {false, true})
    for (const double rotation : {0.0, 0.4, -1.1, 2.2}) {
      const ScanOrientation found = find_scan_orientation(centres(rotation, transposed), raster);
      EXPECT_EQ(found.transpose, transposed) << rotation;
      EXPECT_NEAR(std::sin(found.rotation_rad - rotation), 0, 0.01) << rotation;
      EXPECT_LT(found.curl_share, 0.01);
    }
}

TEST(ScanOrientation, OfNothingIsNotKnown) {
  EXPECT_EQ(find_scan_orientation(std::vector<Vec2>(1200), raster).curl_share, 1);
  std::vector<Vec2> noise;
  noise.reserve(1200);
  std::uint32_t state = 1;
  const auto draw = [&] {
    state = 1664525 * state + 1013904223;
    return (state >> 8) / double{1 << 24};
  };
  for (int i = 0; i < 1200; ++i) noise.push_back({draw(), draw()});
  EXPECT_GT(find_scan_orientation(noise, raster).curl_share, 0.4);
}

/// Counts and centres of mass of a raster of so many columns, in the order of the scan.
RasterSample line_of(int n, int columns) {
  RasterSample line;
  line.disc.raster = {1, n};
  for (int i = 0; i < n; ++i) {
    const Vec2 at{0.5 * (i / columns), 0.5 * (i % columns)};
    line.counts.push_back(1000 + testing::texture(at));
    line.centres.push_back(
        {testing::texture(at + Vec2{50, 0}), testing::texture(at + Vec2{0, 50})});
  }
  return line;
}

TEST(RasterColumns, AreThoseAfterWhichPatternsAreAlike) {
  EXPECT_EQ(find_raster_columns(line_of(40 * 25, 25), 40 * 25), 25);
  EXPECT_EQ(find_raster_columns(line_of(1200, 48), 96 * 48), 48);  // of a part
  EXPECT_FALSE(find_raster_columns(line_of(997, 25), 997));        // no divisor
  RasterSample noise = line_of(1024, 32);
  std::uint32_t state = 1;
  for (double& counts : noise.counts) counts = state = 1664525 * state + 1013904223;
  for (Vec2& centre : noise.centres) centre = {double(state = 22695477 * state + 1), 0};
  EXPECT_FALSE(find_raster_columns(noise, 1024));
}

/// A depth of field is 18 um here.
TEST(StartOutOfFocus, IsAsImagesShiftUnlessThatIsNearFocus) {
  const auto defocus_m = [](double raster_steps_per_px) {
    Sight sight;
    sight.patterns.raster = {12, 12};
    sight.beam.radius_px = 20;
    sight.raster_steps_per_px = raster_steps_per_px;
    DeckDraft deck;
    deck.set("experiment.voltage_V", "300e3", "");
    deck.set("experiment.detector_pixel_rad", "16.5e-6", "");
    deck.set("data.raster_step_m", "[3e-9, 3e-9]", "");
    choose_probe(sight, deck);
    return deck.number("probe.defocus_m");
  };
  EXPECT_NEAR(defocus_m(0.5).value(), 91e-6, 1e-6);
  EXPECT_NEAR(defocus_m(-0.5).value(), -91e-6, 1e-6);
  EXPECT_EQ(defocus_m(0.2), 0);
}

}  // namespace
}  // namespace tessera::analysis

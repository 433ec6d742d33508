// Which positions count as lost, and where they start anew.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lost_positions.hpp"
#include "support/world.hpp"

namespace tessera::run {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Lost, AreThoseFarAboveTheTypical) {
  // 0: not looked at. The geometric mean of the others is 2.
  const std::vector<double> errors{1, 0, 1, 1, 32, 1};
  EXPECT_THAT(lost_positions(errors, 4, testing::world()), ElementsAre(4));
  EXPECT_THAT(lost_positions(errors, 17, testing::world()), IsEmpty());
}

/// Each place is looked at; `error(place)` is what the pattern leaves there.
template <class Error>
Vec2 found(const Vec2& left_px, const Error& error) {
  PlaceSearch search(std::span(&left_px, 1));
  for (const Vec2& place_px : places_around()) {
    const double at_place = error(place_px);
    search.look(place_px, std::span(&at_place, 1));
  }
  return search.best_px().front();
}

double squared_distance(const Vec2& a, const Vec2& b) {
  return (a.y - b.y) * (a.y - b.y) + (a.x - b.x) * (a.x - b.x);
}

TEST(PlaceSearch, FindsThePlaceNearestToTheTruth) {
  const Vec2 truth{1.4, -2.6};
  EXPECT_EQ(found({-1, 1}, [&](const Vec2& place) { return squared_distance(place, truth); }),
            (Vec2{1.5, -3}));
}

TEST(PlaceSearch, BeginsWhereTheScanHasThem) {
  EXPECT_EQ(places_around().front(), Vec2{});
  EXPECT_EQ(found({2, 2}, [](const Vec2&) { return 1; }), Vec2{});
  // What fits a little better elsewhere is chance.
  const auto error = [](double elsewhere) {
    return [=](const Vec2& place) { return place == Vec2{1.5, 0} ? elsewhere : 1; };
  };
  EXPECT_EQ(found({2, 2}, error(0.6)), Vec2{});
  EXPECT_EQ(found({2, 2}, error(0.4)), (Vec2{1.5, 0}));
}

TEST(PlaceSearch, LeavesTheMinimumWhereTheyWereFound) {
  const Vec2 left{-1.6, -1.4};
  const auto error = [&](const Vec2& place) {
    return squared_distance(place, left) < 1 ? 0 : place == Vec2{1.5, 1.5} ? 0.3 : 1;
  };
  EXPECT_EQ(found(left, error), (Vec2{1.5, 1.5}));
  // Also where that is all but where the scan has them.
  EXPECT_EQ(found({0.2, 0.1}, [](const Vec2& place) { return place == Vec2{0, 3} ? 2 : 3; }),
            (Vec2{0, 3}));
}

}  // namespace
}  // namespace tessera::run

#include <gtest/gtest.h>

#include "tessera/base/box.hpp"
#include "tessera/base/random.hpp"
#include "tessera/base/text.hpp"

namespace tessera {
namespace {

constexpr int grid = 8;

/// A box inside grid x grid, often empty, from the hash of `index`.
Box random_box(std::uint64_t index) {
  const auto draw = [&](std::uint64_t k) {
    return static_cast<int>(random_bits(7, 4 * index + k) % (grid + 1));
  };
  return {{draw(0), draw(1)}, {draw(2), draw(3)}};
}

template <class Visit>
void for_each_pixel(Visit visit) {
  for (int y = 0; y < grid; ++y) {
    for (int x = 0; x < grid; ++x) visit(Pixel{y, x});
  }
}

TEST(Box, AtACornerHasTheShape) {
  const Box box = Box::at({-2, 3}, {4, 5});
  EXPECT_EQ(box, (Box{{-2, 3}, {2, 8}}));
  EXPECT_EQ(box.shape(), (Shape2{4, 5}));
  EXPECT_EQ(box.area(), 20);
  EXPECT_FALSE(box.empty());
}

TEST(Box, AreaDoesNotOverflow) {
  EXPECT_EQ(Box::at({0, 0}, {100000, 100000}).area(), 10'000'000'000);
}

TEST(Box, EndBeforeBeginIsEmptyNotNegative) {
  const Box box{{5, 5}, {2, 9}};
  EXPECT_TRUE(box.empty());
  EXPECT_EQ(box.height(), 0);
  EXPECT_EQ(box.area(), 0);
}

TEST(Box, AreaCountsItsPixels) {
  for (std::uint64_t i = 0; i < 200; ++i) {
    const Box box = random_box(i);
    int count = 0;
    for_each_pixel([&](Pixel p) { count += box.contains(p); });
    EXPECT_EQ(box.area(), count) << box;
  }
}

TEST(Box, IntersectionHoldsThePixelsOfBoth) {
  for (std::uint64_t i = 0; i < 200; ++i) {
    const Box a = random_box(2 * i);
    const Box b = random_box(2 * i + 1);
    const Box both = intersection(a, b);
    for_each_pixel([&](Pixel p) {
      EXPECT_EQ(both.contains(p), a.contains(p) && b.contains(p)) << a << " and " << b;
    });
    EXPECT_EQ(both, intersection(b, a));
  }
}

TEST(Box, HullIsTheSmallestBoxAroundThePixelsOfBoth) {
  for (std::uint64_t i = 0; i < 200; ++i) {
    const Box a = random_box(2 * i);
    const Box b = random_box(2 * i + 1);
    Box expected{{grid, grid}, {0, 0}};
    for_each_pixel([&](Pixel p) {
      if (!a.contains(p) && !b.contains(p)) return;
      expected.begin = {std::min(expected.begin.y, p.y), std::min(expected.begin.x, p.x)};
      expected.end = {std::max(expected.end.y, p.y + 1), std::max(expected.end.x, p.x + 1)};
    });
    if (expected.empty()) {
      EXPECT_TRUE(hull(a, b).empty()) << a << " and " << b;
    } else {
      EXPECT_EQ(hull(a, b), expected) << a << " and " << b;
    }
  }
}

TEST(Box, ContainsABoxWhenItContainsAllItsPixels) {
  for (std::uint64_t i = 0; i < 200; ++i) {
    const Box a = random_box(2 * i);
    const Box b = random_box(2 * i + 1);
    bool all = true;
    for_each_pixel([&](Pixel p) { all = all && (!b.contains(p) || a.contains(p)); });
    EXPECT_EQ(a.contains(b), all) << a << " and " << b;
  }
}

TEST(Box, PrintsAsASlice) {
  EXPECT_EQ(text(Box{{1, 2}, {3, 4}}), "[1:3, 2:4]");
}

}  // namespace
}  // namespace tessera

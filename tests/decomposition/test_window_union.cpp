// Rectangles against images in which every window is painted.

#include <gtest/gtest.h>

#include "tessera/base/image_stack.hpp"
#include "tessera/base/random.hpp"
#include "tessera/decomposition/window_union.hpp"

#include "support/allocations.hpp"

namespace tessera::decomposition {
namespace {

ImageStack<int> painted(Shape2 shape, std::span<const Box> boxes) {
  ImageStack<int> image(1, shape);
  for (const Box& box : boxes)
    for (int y = box.begin.y; y < box.end.y; ++y)
      for (int x = box.begin.x; x < box.end.x; ++x) ++image(0, y, x);
  return image;
}

struct Case {
  Shape2 object;
  Shape2 window;
  Box bounds;
  std::vector<Box> windows;  ///< what lies within the bounds of them
};

Case random_case(std::uint64_t seed) {
  std::uint64_t index = 0;
  const auto between = [&](int min, int max) {
    return min + static_cast<int>(random_bits(seed, index++) % (max - min + 1));
  };
  Case made{{between(20, 90), between(20, 90)}, {between(1, 20), between(1, 20)}, {}, {}};
  const Shape2 bounds{between(1, made.object.h), between(1, made.object.w)};
  made.bounds =
      Box::at({between(0, made.object.h - bounds.h), between(0, made.object.w - bounds.w)}, bounds);
  for (int n = between(0, 40); n > 0; --n) {
    const Pixel corner{between(0, made.object.h - made.window.h),
                       between(0, made.object.w - made.window.w)};
    const Box window = intersection(made.bounds, Box::at(corner, made.window));
    if (!window.empty()) made.windows.push_back(window);
  }
  return made;
}

TEST(WindowUnion, RectanglesHoldEveryPixelOfTheWindowsOnce) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Case c = random_case(seed);
    const std::size_t n = c.windows.size();
    ImageStack<int> expected = painted(c.object, c.windows);
    for (int& count : expected) count = std::min(count, 1);
    const std::int64_t max = WindowUnion::max_rectangles(c.window, c.bounds, std::ssize(c.windows));
    std::vector<Box> rectangles;
    rectangles.reserve(static_cast<std::size_t>(max));
    WindowUnion the_union(n);
    const int before = testing::n_allocations();
    the_union.append(c.windows, c.bounds, rectangles);
    EXPECT_EQ(testing::n_allocations(), before) << "seed " << seed;
    const ImageStack<int> got = painted(c.object, rectangles);
    EXPECT_TRUE(std::equal(got.begin(), got.end(), expected.begin())) << "seed " << seed;
    for (const Box& rectangle : rectangles) EXPECT_FALSE(rectangle.empty()) << "seed " << seed;
  }
}

TEST(WindowUnion, DoesNotDependOnTheOrderOfTheWindows) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Case c = random_case(seed);
    std::vector<Box> backwards(c.windows.rbegin(), c.windows.rend());
    WindowUnion the_union(c.windows.size());
    std::vector<Box> one;
    std::vector<Box> other;
    the_union.append(c.windows, c.bounds, one);
    the_union.append(backwards, c.bounds, other);
    EXPECT_EQ(one, other) << "seed " << seed;
  }
}

TEST(WindowUnion, WindowsThatFillTheirBoundsAreOneRectangle) {
  const Box bounds{{2, 3}, {12, 40}};
  std::vector<Box> windows;
  for (int x = 3; x < 40; x += 5) windows.push_back(intersection(bounds, Box::at({2, x}, {20, 9})));
  std::vector<Box> rectangles;
  WindowUnion(windows.size()).append(windows, bounds, rectangles);
  EXPECT_EQ(rectangles, std::vector{bounds});
}

}  // namespace
}  // namespace tessera::decomposition

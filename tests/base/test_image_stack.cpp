#include <numeric>

#include <gtest/gtest.h>

#include "tessera/base/image_stack.hpp"

namespace tessera {
namespace {

TEST(ImageStack, IsInCOrder) {
  ImageStack<int> stack(2, {3, 4});
  std::iota(stack.begin(), stack.end(), 0);
  EXPECT_EQ(stack.size(), 24u);
  EXPECT_EQ(stack(1, 2, 3), 23);
  EXPECT_EQ(stack(1, 0, 2), 14);
  EXPECT_EQ(*stack.image(1), 12);
}

TEST(ImageStack, StartsWithTheGivenValue) {
  for (const double value : ImageStack<double>(2, {2, 2}, 1.5)) EXPECT_EQ(value, 1.5);
  for (const double value : ImageStack<double>(2, {2, 2})) EXPECT_EQ(value, 0.0);
}

}  // namespace
}  // namespace tessera

#include <vector>

#include <gtest/gtest.h>

#include "zero_frequency.hpp"

namespace tessera::io {
namespace {

TEST(ZeroFrequency, GoesFromTheCentreToTheCornerWithItsNeighbours) {
  for (const Shape2 shape : {Shape2{4, 4}, {5, 6}, {6, 5}, {7, 7}, {1, 3}, {2, 1}}) {
    std::vector<int> in(static_cast<std::size_t>(shape.size()));
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i);
    std::vector<int> out(in.size(), -1);
    corner_from_centre(in.data(), out.data(), shape);
    // Frequencies from -n/2 to (n-1)/2: negative ones come last.
    for (int fy = -(shape.h / 2); fy <= (shape.h - 1) / 2; ++fy)
      for (int fx = -(shape.w / 2); fx <= (shape.w - 1) / 2; ++fx) {
        const int from = (fy + shape.h / 2) * shape.w + fx + shape.w / 2;
        const int to = (fy < 0 ? fy + shape.h : fy) * shape.w + (fx < 0 ? fx + shape.w : fx);
        EXPECT_EQ(out[static_cast<std::size_t>(to)], from) << shape.h << " x " << shape.w;
      }
  }
}

}  // namespace
}  // namespace tessera::io

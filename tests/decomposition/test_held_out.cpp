#include <algorithm>

#include <gmock/gmock.h>

#include "tessera/base/error.hpp"

#include "decomposition/held_out.hpp"

namespace tessera::decomposition {
namespace {

TEST(HeldOut, IsTheShareThatWasAskedFor) {
  for (const auto& [n, fraction, expected] : {std::tuple{1000, 0.05, 50}, std::tuple{81, 0.1, 8},
                                              std::tuple{7, 0.01, 1}, std::tuple{50, 0.0, 0}}) {
    const std::vector<bool> held_out = held_out_positions(n, fraction, 1);
    EXPECT_EQ(held_out.size(), static_cast<std::size_t>(n));
    EXPECT_EQ(std::ranges::count(held_out, true), expected) << n;
  }
}

TEST(HeldOut, DependsOnTheSeedAndIsSpreadOverTheScan) {
  const std::vector<bool> held_out = held_out_positions(10000, 0.1, 1);
  EXPECT_EQ(held_out, held_out_positions(10000, 0.1, 1));
  EXPECT_NE(held_out, held_out_positions(10000, 0.1, 2));
  for (int part = 0; part < 10; ++part) {
    const auto begin = held_out.begin() + 1000 * part;
    EXPECT_NEAR(static_cast<double>(std::count(begin, begin + 1000, true)), 100, 40);
  }
}

TEST(HeldOut, LeavesSomethingToFit) {
  EXPECT_THROW(held_out_positions(1, 0.05, 1), InputError);
  try {
    held_out_positions(2, 0.9, 1);
    ADD_FAILURE() << "nothing would be left";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("validation.fraction = 0.9 holds out 2 of 2"));
  }
}

/// Both halves of a raster have positions in every 4 x 4 of it, and no stripes.
TEST(SecondHalf, IsEveryOtherOfTheNeighbours) {
  constexpr int side = 32;
  std::vector<Pixel> corner;
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) corner.push_back({10 * y, 10 * x});
  const std::vector<bool> second = second_half(corner, 1);
  EXPECT_EQ(second, second_half(corner, 1));
  EXPECT_NE(second, second_half(corner, 2));
  EXPECT_EQ(std::ranges::count(second, true), side * side / 2);
  std::vector<int> in_row(side), in_column(side), in_block(side * side / 16);
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x)
      if (second[static_cast<std::size_t>(y * side + x)]) {
        ++in_row[static_cast<std::size_t>(y)];
        ++in_column[static_cast<std::size_t>(x)];
        ++in_block[static_cast<std::size_t>(y / 4 * (side / 4) + x / 4)];
      }
  EXPECT_THAT(in_block, ::testing::Each(8));
  EXPECT_THAT(in_row, ::testing::Each(::testing::AllOf(::testing::Gt(4), ::testing::Lt(28))));
  EXPECT_THAT(in_column, ::testing::Each(::testing::AllOf(::testing::Gt(4), ::testing::Lt(28))));
  const std::vector<bool> of_seven = second_half(std::span(corner).first(7), 1);
  EXPECT_THAT(std::ranges::count(of_seven, true), ::testing::AnyOf(3, 4));
}

}  // namespace
}  // namespace tessera::decomposition

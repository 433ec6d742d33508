#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "pattern_sums.hpp"
#include "stored_patterns.hpp"

namespace tessera::io {
namespace {

constexpr std::size_t n_patterns = 11;
const Shape2 shape{7, 10};

ScanInfo info_of(PatternType type) {
  ScanInfo info;
  info.pattern = shape;
  info.type = type;
  info.saturation = 90;
  return info;
}

/// Whole counts up to 99, of which a tenth are saturated.
template <class T>
std::vector<T> random_patterns() {
  std::mt19937 random(3);
  std::vector<T> patterns(n_patterns * static_cast<std::size_t>(shape.size()));
  for (T& counts : patterns) counts = static_cast<T>(random() % 100);
  return patterns;
}

double unsaturated(double counts) {
  return counts < 90 ? counts : 0;
}

template <class T>
class SumsOf : public ::testing::Test {};
using Types = ::testing::Types<std::uint8_t, std::uint16_t, std::uint32_t, float>;
TYPED_TEST_SUITE(SumsOf, Types);

template <class T>
constexpr PatternType type_of = sizeof(T) == 1          ? PatternType::u8
                                : sizeof(T) == 2        ? PatternType::u16
                                : std::is_integral_v<T> ? PatternType::u32
                                                        : PatternType::f32;

TYPED_TEST(SumsOf, PixelsAreThoseOfPlainLoopsToTheLastBitByAnyNumberOfThreads) {
  const std::vector<TypeParam> patterns = random_patterns<TypeParam>();
  const auto n_pixels = static_cast<std::size_t>(shape.size());
  std::vector<const std::byte*> each;
  PatternSums expected(shape);
  for (std::size_t p = 0; p < n_patterns; ++p) {
    each.push_back(reinterpret_cast<const std::byte*>(patterns.data() + p * n_pixels));
    for (std::size_t i = 0; i < n_pixels; ++i) {
      const double counts = patterns[p * n_pixels + i];
      expected.counts.data()[i] += unsaturated(counts);
      expected.roots.data()[i] += std::sqrt(unsaturated(counts));
      expected.n_ignored.data()[i] += counts < 90 ? 0 : 1;
    }
  }
  for (const int n_threads : {1, 2, 16, 100}) {
    PatternSums sums(shape);
    sums.add(info_of(type_of<TypeParam>), each, n_threads);
    for (std::size_t i = 0; i < n_pixels; ++i) {
      EXPECT_EQ(sums.counts.data()[i], expected.counts.data()[i]);
      EXPECT_EQ(sums.roots.data()[i], expected.roots.data()[i]);
      EXPECT_EQ(sums.n_ignored.data()[i], expected.n_ignored.data()[i]);
    }
  }
}

TYPED_TEST(SumsOf, ACentreIsThatOfPlainLoops) {
  const std::vector<TypeParam> patterns = random_patterns<TypeParam>();
  double counts = 0;
  Vec2 moment;
  for (int y = 0; y < shape.h; ++y)
    for (int x = 0; x < shape.w; ++x) {
      const double here = unsaturated(patterns[static_cast<std::size_t>(y * shape.w + x)]);
      counts += here;
      moment.y += here * (y < 4 ? y : y - 7);  // 7 x 10 from the zero frequency at [0, 0]
      moment.x += here * (x < 5 ? x : x - 10);
    }
  const Vec2 centre = centre_of(info_of(type_of<TypeParam>),
                                reinterpret_cast<const std::byte*>(patterns.data()), counts);
  EXPECT_NEAR(centre.y, moment.y / counts, 1e-14);
  EXPECT_NEAR(centre.x, moment.x / counts, 1e-14);
}

}  // namespace
}  // namespace tessera::io

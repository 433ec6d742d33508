// The logarithm that processors vectorise, against the library's.

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "tessera/device/logarithm.hpp"

namespace tessera::device {
namespace {

/// To 2 units in the last place of what it is, or of a number as near to 1 as x may be.
void expect_right(Real x) {
  const double right = std::log(static_cast<double>(x));
  const double unit = std::numeric_limits<Real>::epsilon() * std::fabs(right);
  EXPECT_NEAR(static_cast<double>(logarithm(x)), right, 2 * unit) << "of " << x;
}

TEST(Logarithm, OfNumbersOfAllSizes) {
  const Real step = std::sqrt(Real(1.1));
  for (Real x = std::numeric_limits<Real>::min(); x < std::numeric_limits<Real>::max() / 2;
       x *= step)
    expect_right(x);
  expect_right(std::numeric_limits<Real>::max());
}

TEST(Logarithm, NearOneWhereItVanishes) {
  EXPECT_EQ(logarithm(1), 0);
  for (Real distance = Real(0.4); distance > std::numeric_limits<Real>::epsilon();
       distance *= Real(0.7)) {
    expect_right(1 + distance);
    expect_right(1 - distance);
  }
}

TEST(Logarithm, WhereThePowerOfTwoChanges) {
  const Real least = Real(2) / 3;
  for (const Real power : {Real(0.25), Real(1), Real(1024)})
    for (const Real x : {least, std::nextafter(least, Real(0)), std::nextafter(2 * least, Real(0))})
      expect_right(power * x);
}

}  // namespace
}  // namespace tessera::device

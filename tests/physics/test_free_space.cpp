// Plane waves through free space: the textbook's root where nothing cancels, and waves that decay.

#include <cmath>

#include <gtest/gtest.h>

#include "free_space.hpp"

namespace tessera::physics {
namespace {

TEST(FreeSpace, IsTheRootMinusThePlaneWave) {
  const double wavelength_m = 0.5;
  for (const double k : {0.01, 0.3, 1.0, 1.9, 1.9999}) {
    const long double root = std::sqrt(4.0L - static_cast<long double>(k) * k);
    EXPECT_NEAR(axial_frequency(k * k, wavelength_m), static_cast<double>(root - 2.0L), 1e-13) << k;
  }
}

TEST(FreeSpace, KeepsTheSmallPhasesOfShortWaves) {
  // lambda k^2 / 2 = 1e-14 of 1 / lambda: a difference of roots would leave two digits.
  const double wavelength_m = 2e-12;
  const double k = 1e-7 * std::sqrt(2.0) / wavelength_m;
  const double paraxial = -wavelength_m * k * k / 2;
  EXPECT_NEAR(axial_frequency(k * k, wavelength_m) / paraxial, 1, 1e-12);
}

TEST(FreeSpace, WavesThatDecayHaveNoPhase) {
  const double wavelength_m = 3;  // of pixels of 1: beyond the Nyquist frequency of a wave's own
  const double nyquist = spatial_frequency(4, 8, 1);
  EXPECT_EQ(nyquist, -0.5);
  EXPECT_TRUE(is_evanescent(nyquist * nyquist, wavelength_m));
  EXPECT_EQ(axial_frequency(nyquist * nyquist, wavelength_m), 0);
  const double slow = spatial_frequency(2, 8, 1);
  EXPECT_FALSE(is_evanescent(slow * slow, wavelength_m));
  EXPECT_LT(axial_frequency(slow * slow, wavelength_m), 0);
}

}  // namespace
}  // namespace tessera::physics

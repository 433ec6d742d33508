// Costs of a pixel: their derivatives against central differences in long double, by the formulas.

#include <cmath>

#include <gtest/gtest.h>

#include "tessera/physics/noise.hpp"

namespace tessera::physics {
namespace {

/// The formulas of noise.hpp.
long double cost_by_formula(Noise noise, long double intensity, long double measured) {
  switch (noise) {
    case Noise::intensity:
      return intensity > 2 * measured + 1
                 ? (2 * intensity - 3 * measured - 1) / 4
                 : std::pow(intensity - measured, 2.0L) / (4 * (measured + 1));
    case Noise::poisson:
      return (intensity - measured * std::log(intensity + dark_counts)) / 2;
    case Noise::stabilised:
      return std::pow(
          std::sqrt(intensity + 0.25L) - (std::sqrt(measured) + std::sqrt(measured + 1)) / 2, 2.0L);
    default:
      return std::pow(std::sqrt(intensity) - std::sqrt(measured), 2.0L);
  }
}

/// Of any model.
long double least_cost(Noise noise, long double measured) {
  return noise == Noise::poisson ? cost_by_formula(noise, measured, measured) : 0;
}

long double slope_by_differences(Noise noise, long double intensity, long double measured) {
  const long double step = 1e-6L * intensity;
  return (cost_by_formula(noise, intensity + step, measured) -
          cost_by_formula(noise, intensity - step, measured)) /
         (2 * step);
}

constexpr double tolerance = sizeof(Real) == 4 ? 2e-6 : 1e-7;
/// Also where dark_counts is no longer negligible.
constexpr Real intensities[] = {Real(0.004), Real(0.7), Real(5), Real(5.5), Real(40), Real(3e4)};
constexpr Real measurements[] = {Real(0), Real(1), Real(5), Real(2e4)};

class NoiseTest : public ::testing::TestWithParam<Noise> {};

TEST_P(NoiseTest, CostIsTheFormula) {
  for (const Real intensity : intensities)
    for (const Real measured : measurements) {
      const auto expected = static_cast<double>(cost_by_formula(GetParam(), intensity, measured));
      // The difference of amplitudes is rounded before it is squared.
      EXPECT_NEAR(cost(GetParam(), intensity, measured), expected,
                  tolerance * (std::abs(expected) + intensity / 10 + measured / 10));
    }
}

TEST_P(NoiseTest, SlopeIsTheDerivativeOfTheCost) {
  for (const Real intensity : intensities)
    for (const Real measured : measurements) {
      const auto expected =
          static_cast<double>(slope_by_differences(GetParam(), intensity, measured));
      EXPECT_NEAR(slope(GetParam(), intensity, measured, Real(1e-10)), expected,
                  tolerance * (1 + std::abs(expected)));
    }
}

/// Far from the counts, as a poor start is: no step takes away more than there is.
TEST_P(NoiseTest, SlopeOfBrightPixelsIsBounded) {
  for (const Real measured : measurements)
    for (const Real times : {Real(3), Real(1e3), Real(1e6)})
      EXPECT_LE(slope(GetParam(), times * (measured + 1), measured, 0), 1) << measured;
}

/// Others say of themselves what they divide by.
TEST(DarkAmplitudes, AreDividedByNoLess) {
  const Real dark = 2;
  EXPECT_EQ(slope(Noise::amplitude, 9, 25, dark), Real(-2) / 3);
  EXPECT_EQ(slope(Noise::amplitude, 1, 25, dark), -2);
  EXPECT_EQ(slope(Noise::amplitude, 0, 25, dark), Real(-2.5));
  EXPECT_EQ(slope(Noise::poisson, 1, 25, dark), slope(Noise::poisson, 1, 25, 0));
}

/// Mean of what each compares of counts, less what it compares of the model that expects them.
TEST(StabilisedAmplitudes, OfDarkPixelsHaveNearlyTheMeanThatTheModelExpects) {
  for (const double expected : {0.05, 0.2, 1.0, 5.0}) {
    double of_roots = -std::sqrt(expected);
    double stabilised = -stabilised_model(static_cast<Real>(expected));
    double probability = std::exp(-expected);
    for (int counts = 0; counts < 40; probability *= expected / ++counts) {
      of_roots += probability * std::sqrt(counts);
      stabilised += probability * stabilised_count(static_cast<Real>(counts));
    }
    EXPECT_LT(std::abs(stabilised), 0.22 * std::abs(of_roots)) << expected;
  }
}

TEST_P(NoiseTest, ExcessIsTheCostAboveThatOfAPerfectModel) {
  for (const Real intensity : intensities)
    for (const Real measured : measurements) {
      const auto expected = static_cast<double>(cost_by_formula(GetParam(), intensity, measured) -
                                                least_cost(GetParam(), measured));
      EXPECT_NEAR(excess_cost(GetParam(), intensity, measured), expected,
                  tolerance * (std::abs(expected) + intensity / 10 + measured / 10));
    }
  const Real many = 1e6;
  EXPECT_NEAR(excess_cost(GetParam(), many + 1000, many), 0.25, 0.05)
      << "one standard deviation, whatever the noise model";
}

INSTANTIATE_TEST_SUITE_P(All, NoiseTest,
                         ::testing::Values(Noise::amplitude, Noise::intensity, Noise::poisson,
                                           Noise::stabilised));

}  // namespace
}  // namespace tessera::physics

#include <gtest/gtest.h>

#include "tessera/fft/plan.hpp"

#include "fft/shared_plans.hpp"
#include "scaled_waves.hpp"
#include "support/small_scan.hpp"

namespace tessera::fft {
namespace {

using testing::on_device;
using testing::on_host;
using testing::random_waves;
using testing::relative_difference;

class PlanTest : public ::testing::TestWithParam<std::pair<Shape2, Planning>> {};

TEST_P(PlanTest, AgreesWithTheDefinitionForEveryImageOfTheStack) {
  const auto [shape, planning] = GetParam();
  const Plan plan(shape, planning);
  const WaveStack waves = random_waves(3, shape, 7);
  const auto view = on_device(waves);
  plan.forward({}, view.data(), 3);
  EXPECT_LT(
      relative_difference(scaled(on_host(view), plan.unitary_scale()), testing::dft(waves, -1)),
      testing::rounding);
  plan.inverse({}, view.data(), 3);
  const double both = static_cast<double>(plan.unitary_scale()) * plan.unitary_scale();
  EXPECT_LT(relative_difference(scaled(on_host(view), both), waves), testing::rounding);
}

INSTANTIATE_TEST_SUITE_P(Shapes, PlanTest,
                         ::testing::Values(std::pair(Shape2{16, 16}, Planning::measured),
                                           std::pair(Shape2{9, 15}, Planning::measured),
                                           std::pair(Shape2{7, 12}, Planning::reproducible)));

TEST(SharedPlans, ServeWhoTakesThem) {
  const Shape2 shape{16, 12};
  const std::string plans = measured_plans(shape);
  if (device::device_is_host) {
    EXPECT_NE(plans.find("fftw"), std::string::npos);
  }
  take_plans(plans);
  EXPECT_EQ(measured_plans(shape), plans);  // nothing new was measured
  take_plans("of another library");
  const WaveStack waves = random_waves(1, shape, 7);
  const auto view = on_device(waves);
  const Plan plan(shape, Planning::measured);
  plan.forward({}, view.data(), 1);
  EXPECT_LT(
      relative_difference(scaled(on_host(view), plan.unitary_scale()), testing::dft(waves, -1)),
      testing::rounding);
}

}  // namespace
}  // namespace tessera::fft

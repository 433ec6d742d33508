#include <tuple>

#include <gtest/gtest.h>

#include "physics/forward_model.hpp"
#include "support/small_scan.hpp"

namespace tessera::physics {
namespace {

using device::complex;
using device::DeviceView;
using testing::Complex;
using testing::inner;
using testing::on_device;
using testing::on_host;
using testing::SmallScan;

/// Odd and even windows, one and three modes, whole and sub-pixel positions, atomic and fixed
/// order.
class ForwardModelTest : public ::testing::TestWithParam<std::tuple<Shape2, int, bool, bool>> {
 protected:
  static constexpr int n_positions = 5;
  ForwardModelTest()
      : scan_(testing::make_small_scan(window(), n_modes(), n_positions, subpixel())),
        model_(scan_.tile, n_modes(), n_positions, n_positions, std::get<3>(GetParam()),
               fft::Planning::reproducible),
        object_(on_device(scan_.object)),
        probe_(on_device(scan_.probe)) {
    model_.set_probe(exec_, probe_);
  }
  static Shape2 window() { return std::get<0>(GetParam()); }
  static int n_modes() { return std::get<1>(GetParam()); }
  static bool subpixel() { return std::get<2>(GetParam()); }

  /// The chunk's waves as one stack, (position * mode, h, w).
  WaveStack waves_on_host() const {
    const ObjectView flat(model_.waves().data(), static_cast<std::size_t>(n_positions * n_modes()),
                          static_cast<std::size_t>(window().h),
                          static_cast<std::size_t>(window().w));
    return on_host(flat);
  }
  void put_waves(const WaveStack& waves) {
    const ObjectView flat(model_.waves().data(), static_cast<std::size_t>(waves.n()),
                          static_cast<std::size_t>(window().h),
                          static_cast<std::size_t>(window().w));
    Kokkos::deep_copy(flat, on_device(waves));
  }

  device::Device exec_;
  SmallScan scan_;
  ForwardModel model_;
  ObjectView object_;
  ProbeView probe_;
  Chunk all_ = scan_.all;
};

TEST_P(ForwardModelTest, DetectorWavesAgreeWithPlainLoops) {
  model_.forward(exec_, object_, all_);
  const WaveStack waves = waves_on_host();
  WaveStack expected(waves.n(), window());
  for (int j = 0; j < n_positions; ++j) {
    const WaveStack detector = testing::dft(
        testing::exit_waves(scan_.object, scan_.probe, scan_.corner[j], scan_.subpixel[j]), -1);
    std::copy(detector.begin(), detector.end(), expected.image(j * n_modes()));
  }
  EXPECT_LT(testing::relative_difference(waves, expected), testing::rounding);
}

TEST_P(ForwardModelTest, KeepsThePowerOfTheExitWaves) {
  model_.forward(exec_, object_, all_);
  double exit_power = 0;
  for (int j = 0; j < n_positions; ++j)
    exit_power += std::pow(testing::norm(testing::exit_waves(scan_.object, scan_.probe,
                                                             scan_.corner[j], scan_.subpixel[j])),
                           2);
  EXPECT_NEAR(std::pow(testing::norm(waves_on_host()), 2) / exit_power, 1, testing::rounding);
}

/// <forward(object), w> = <object, backward(w) added up>: the object's gradient is the adjoint of
/// the linear model.
TEST_P(ForwardModelTest, ObjectGradientIsTheAdjoint) {
  const WaveStack w = testing::random_waves(n_positions * n_modes(), window(), 11);
  model_.forward(exec_, object_, all_);
  const Complex left = inner(waves_on_host(), w);
  put_waves(w);
  model_.backward(exec_, all_);
  const GradientSums sums = testing::zero_sums(object_, probe_);
  model_.add_gradients(exec_, object_, all_, sums, false);
  const Complex right = inner(scan_.object, on_host(sums.object));
  EXPECT_EQ(testing::norm(on_host(sums.probe)), 0);
  EXPECT_LT(std::abs(left - right), 100 * testing::rounding * std::abs(left));
}

TEST_P(ForwardModelTest, ProbeGradientIsTheAdjoint) {
  const WaveStack w = testing::random_waves(n_positions * n_modes(), window(), 12);
  model_.forward(exec_, object_, all_);
  const Complex left = inner(waves_on_host(), w);
  put_waves(w);
  model_.backward(exec_, all_);
  const GradientSums sums = testing::zero_sums(object_, probe_);
  model_.add_gradients(exec_, object_, all_, sums, true);
  model_.finish_probe_gradient(exec_, sums.probe);
  const Complex right = inner(scan_.probe, on_host(sums.probe));
  EXPECT_LT(std::abs(left - right), 100 * testing::rounding * std::abs(left));
}

TEST_P(ForwardModelTest, IlluminationAndOverlapAgreeWithPlainLoops) {
  model_.forward(exec_, object_, all_);
  const GradientSums sums = testing::zero_sums(object_, probe_);
  model_.add_gradients(exec_, object_, all_, sums, true);

  const std::vector<int> positions{0, 1, 2, 3, 4};
  const testing::PlainSums plain = testing::plain_sums(scan_, positions);
  const ImageStack<double>& expected = plain.dose;
  const ImageStack<double>& expected_overlap = plain.overlap;
  const Kokkos::HostSpace host;
  const auto found = Kokkos::create_mirror_view_and_copy(host, sums.dose);
  const auto found_overlap = Kokkos::create_mirror_view_and_copy(host, sums.overlap);
  double worst = 0;
  for (int y = 0; y < expected.h(); ++y)
    for (int x = 0; x < expected.w(); ++x)
      worst = std::max(worst, std::abs(found(0, y, x) - expected(0, y, x)));
  for (int y = 0; y < window().h; ++y)
    for (int x = 0; x < window().w; ++x)
      worst = std::max(worst, std::abs(found_overlap(y, x) - expected_overlap(0, y, x)));
  EXPECT_LT(worst, 20 * testing::rounding);
}

INSTANTIATE_TEST_SUITE_P(Cases, ForwardModelTest,
                         ::testing::Combine(::testing::Values(Shape2{8, 8}, Shape2{9, 7}),
                                            ::testing::Values(1, 3), ::testing::Bool(),
                                            ::testing::Bool()));

}  // namespace
}  // namespace tessera::physics

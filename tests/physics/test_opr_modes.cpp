#include <random>

#include <gtest/gtest.h>

#include "physics/opr_modes.hpp"
#include "support/small_scan.hpp"

namespace tessera::physics {
namespace {

constexpr int n_modes = 2;
constexpr int n_opr = 3;
constexpr int n_positions = 70;  // more than are summed at a time
constexpr Shape2 window{9, 8};

using Weights = device::DeviceView<Real**>;

Weights random_weights() {
  std::mt19937 random(7);
  std::normal_distribution<double> normal(0.4, 1.5);
  std::vector<Real> values(n_positions * n_opr);
  for (Real& value : values) value = static_cast<Real>(normal(random));
  return device::to_device<Weights>("weights", values.data(),
                                    Weights::array_layout(n_positions, n_opr));
}

/// First mode of the probe that falls at `position`.
testing::Complex own_probe(const WaveStack& probe, const auto& weight, int position, int y, int x) {
  testing::Complex sum = probe(0, y, x);
  for (int k = 0; k < n_opr; ++k)
    sum += static_cast<double>(weight(position, k)) * probe(n_modes + k, y, x);
  return sum;
}

testing::Complex product(const WaveStack& waves, int a, int b) {
  testing::Complex sum = 0;
  for (int y = 0; y < window.h; ++y)
    for (int x = 0; x < window.w; ++x) sum += std::conj(waves(a, y, x)) * waves(b, y, x);
  return sum;
}

struct Settled {
  WaveStack probe;
  Weights::HostMirror weight;
};

Settled settle(const WaveStack& probe_before, const Weights& weight) {
  const ProbeView probe = testing::on_device(probe_before);
  OprModes({.n_modes = n_modes, .n_opr_modes = n_opr}, window)
      .settle({}, probe, weight, [](const auto&) {});
  return {testing::on_host(probe),
          Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), weight)};
}

TEST(OprModes, AreSettledAndNoPositionsProbeChanges) {
  const WaveStack before = testing::random_waves(n_modes + n_opr, window, 5);
  const Weights weight = random_weights();
  const auto weight_before = Kokkos::create_mirror(Kokkos::HostSpace(), weight);
  Kokkos::deep_copy(weight_before, weight);
  const Settled after = settle(before, weight);

  double worst = 0;
  for (int position = 0; position < n_positions; ++position)
    for (int x = 0; x < window.w; ++x)
      worst = std::max(worst, std::abs(own_probe(before, weight_before, position, 4, x) -
                                       own_probe(after.probe, after.weight, position, 4, x)));
  EXPECT_LT(worst, 100 * testing::rounding);
  for (int x = 0; x < window.w; ++x)
    EXPECT_LT(std::abs(before(1, 2, x) - after.probe(1, 2, x)), testing::rounding);

  for (int k = 0; k < n_opr; ++k) {
    double sum = 0;
    double squares = 0;
    for (int position = 0; position < n_positions; ++position) {
      sum += after.weight(position, k);
      squares += std::pow(after.weight(position, k), 2);
    }
    EXPECT_NEAR(sum / n_positions, 0, 10 * testing::rounding);
    EXPECT_GT(squares, 0);
  }
}

TEST(OprModes, AreOrthogonalAndSortedByPower) {
  const Settled after = settle(testing::random_waves(n_modes + n_opr, window, 5), random_weights());
  const double greatest = product(after.probe, n_modes, n_modes).real();
  for (int a = 0; a < n_opr; ++a)
    for (int b = 0; b < a; ++b) {
      EXPECT_LT(std::abs(product(after.probe, n_modes + a, n_modes + b).real()),
                20 * testing::rounding * greatest);
      EXPECT_LE(product(after.probe, n_modes + a, n_modes + a).real(),
                product(after.probe, n_modes + b, n_modes + b).real());
    }
}

}  // namespace
}  // namespace tessera::physics

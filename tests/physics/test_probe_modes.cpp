#include <gtest/gtest.h>

#include "physics/probe_modes.hpp"
#include "support/small_scan.hpp"

namespace tessera::physics {
namespace {

TEST(ModeOrthogonaliser, MakesModesOrthogonalSortedByPowerAndKeepsEveryIntensity) {
  constexpr int n_modes = 4;
  constexpr Shape2 window{9, 8};
  const WaveStack before = testing::random_waves(n_modes, window, 5);
  const ProbeView probe = testing::on_device(before);
  ModeOrthogonaliser(n_modes, window).orthogonalise({}, probe);
  const WaveStack after = testing::on_host(probe);
  const std::vector<double> powers = mode_powers({}, probe);

  const auto product = [&](int a, int b) {
    testing::Complex sum = 0;
    for (int y = 0; y < window.h; ++y)
      for (int x = 0; x < window.w; ++x) sum += std::conj(after(a, y, x)) * after(b, y, x);
    return std::abs(sum);
  };
  for (int a = 0; a < n_modes; ++a) {
    EXPECT_NEAR(product(a, a) / powers[a], 1, testing::rounding);
    for (int b = 0; b < a; ++b) {
      EXPECT_LT(product(a, b), 10 * testing::rounding * powers[0]);
      EXPECT_LE(powers[a], powers[b]);
    }
  }
  // A unitary mixing of modes keeps sum_m conj(P_m(r)) P_m(r') for all pairs of pixels.
  double worst = 0;
  for (int x = 0; x < window.w; ++x) {
    testing::Complex was = 0;
    testing::Complex is = 0;
    for (int m = 0; m < n_modes; ++m) {
      was += std::conj(before(m, 2, 3)) * before(m, 5, x);
      is += std::conj(after(m, 2, 3)) * after(m, 5, x);
    }
    worst = std::max(worst, std::abs(was - is));
  }
  EXPECT_LT(worst, 20 * testing::rounding);
}

}  // namespace
}  // namespace tessera::physics

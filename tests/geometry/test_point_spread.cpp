// Shares of a Gaussian on rings, against the sum over all images of a pixel.

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "geometry/point_spread.hpp"

namespace tessera::geometry {
namespace {

TEST(PointSpread, SharesAreThoseOfAllImagesOfAPixel) {
  for (const int n : {1, 2, 5, 8, 9, 64})
    for (const double sigma_px : {0.1, 0.6, 1.5, 7.0, 100.0}) {
      const PointSpread spread = point_spread(n, sigma_px);
      ASSERT_LE(spread.share.size(), n) << sigma_px;
      double norm = 0;
      for (int d = -1000; d <= 1000; ++d) norm += std::exp(-0.5 * d * d / (sigma_px * sigma_px));
      std::vector<double> expected(static_cast<std::size_t>(n));
      for (int d = -1000; d <= 1000; ++d)
        expected[static_cast<std::size_t>((d % n + n) % n)] +=
            std::exp(-0.5 * d * d / (sigma_px * sigma_px)) / norm;
      std::vector<double> found(static_cast<std::size_t>(n));
      for (std::size_t k = 0; k < spread.share.size(); ++k) {
        EXPECT_GE(spread.share[k], 0);
        const int to = spread.first + static_cast<int>(k);
        found[static_cast<std::size_t>((to % n + n) % n)] += spread.share[k];
      }
      for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_NEAR(found[i], expected[i], 1e-5) << n << ' ' << sigma_px << ' ' << i;
      EXPECT_NEAR(std::accumulate(found.begin(), found.end(), 0.0), 1, 1e-12);
    }
}

}  // namespace
}  // namespace tessera::geometry

// A probe on another detector, against the spectrum it must have there.
#include <algorithm>
#include <cmath>
#include <complex>

#include <gtest/gtest.h>

#include "optics/framed_probe.hpp"

namespace tessera::optics {
namespace {

using geometry::DetectorFrame;
using geometry::make_frame;

/// Small enough that it lies inside the window that binning leaves; two modes, not symmetric.
WaveStack compact_probe(Shape2 window) {
  WaveStack probe(2, window);
  for (int m = 0; m < 2; ++m)
    for (int y = 0; y < window.h; ++y)
      for (int x = 0; x < window.w; ++x) {
        const double dy = y - window.h / 2 + 0.7 * m;
        const double dx = x - window.w / 2 - 0.4;
        probe(m, y, x) = std::polar(std::exp(-dy * dy / 3 - dx * dx / 4), 0.5 * dy - 0.3 * dx * dx);
      }
  return probe;
}

/// The spectrum's modulus at a frequency, cycles per window, which may lie between the bins: a sum
/// over the probe's pixels.
double modulus(const WaveStack& probe, int mode, double fy, double fx) {
  std::complex<double> sum = 0;
  for (int y = 0; y < probe.h(); ++y)
    for (int x = 0; x < probe.w(); ++x)
      sum += probe(mode, y, x) *
             std::polar(1.0, -2 * M_PI * (fy * y / probe.h() + fx * x / probe.w()));
  return std::abs(sum) / std::sqrt(static_cast<double>(probe.shape().size()));
}

void expect_spectrum(const DetectorFrame& frame) {
  const WaveStack given = compact_probe(frame.recorded);
  const WaveStack framed = framed_probe(given, frame);
  ASSERT_EQ(framed.shape(), frame.pattern);
  const auto [h, w] = frame.binned();
  double worst = 0;
  for (int m = 0; m < 2; ++m)
    for (int y = 0; y < frame.pattern.h; ++y)
      for (int x = 0; x < frame.pattern.w; ++x) {
        const int fy = y - frame.pattern.h / 2;
        const int fx = x - frame.pattern.w / 2;
        const bool recorded = fy >= -(h / 2) && fy < h - h / 2 && fx >= -(w / 2) && fx < w - w / 2;
        // The middle of the recorded pixels that are summed here.
        const auto middle = [&](int f, int n, int n_cut) {
          return (f + n / 2) * frame.bin - n_cut / 2 + (frame.bin - 1) / 2.0;
        };
        // Counts of bin x bin pixels are summed, amplitudes grow by bin.
        const double expected = recorded ? frame.bin * modulus(given, m, middle(fy, h, frame.cut.h),
                                                               middle(fx, w, frame.cut.w))
                                         : 0;
        worst = std::max(worst, std::abs(modulus(framed, m, fy, fx) - expected));
      }
  EXPECT_LT(worst, 2e-3) << "of a greatest modulus near " << modulus(given, 0, 0, 0) * frame.bin;
}

TEST(FramedProbe, HasTheSpectrumOfTheCutDetector) {
  expect_spectrum(make_frame({24, 27}, {15, 16}, 1, {}));
}

TEST(FramedProbe, HasTheSpectrumOfTheBinnedDetector) {
  expect_spectrum(make_frame({24, 36}, {}, 2, {}));
  expect_spectrum(make_frame({33, 36}, {}, 3, {}));
}

TEST(FramedProbe, HasTheSpectrumOfThePaddedDetector) {
  expect_spectrum(make_frame({20, 21}, {}, 1, {33, 30}));
  expect_spectrum(make_frame({40, 36}, {36, 36}, 2, {25, 24}));
}

TEST(FramedProbe, IsItselfOnTheSameDetector) {
  const WaveStack given = compact_probe({10, 11});
  const WaveStack framed = framed_probe(given, geometry::whole_detector({10, 11}));
  EXPECT_TRUE(std::equal(given.begin(), given.end(), framed.begin()));
}

}  // namespace
}  // namespace tessera::optics

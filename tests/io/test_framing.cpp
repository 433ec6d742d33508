// Where recorded pixels go, against loops over frequencies.
#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "framing.hpp"

namespace tessera::io {
namespace {

using geometry::DetectorFrame;
using geometry::make_frame;

/// What each pixel of the pattern is the sum of: recorded pixel i holds 2^i, so that a sum tells
/// its terms. -1: not visited.
std::vector<double> framed(const DetectorFrame& frame, bool centred) {
  const Framing framing(frame, centred);
  const Box& held = framing.needed();
  std::vector<double> out(static_cast<std::size_t>(frame.pattern.size()), -1);
  framing.for_each_pixel(held, [&](std::int64_t pixel, const auto& all_recorded) {
    out[static_cast<std::size_t>(pixel)] = 0;
    all_recorded([&](std::int64_t i) {
      const int y = held.begin.y + static_cast<int>(i) / held.width();
      const int x = held.begin.x + static_cast<int>(i) % held.width();
      out[static_cast<std::size_t>(pixel)] += std::ldexp(1.0, y * frame.recorded.w + x);
    });
  });
  return out;
}

int wrapped(int frequency, int n) {
  return frequency < 0 ? frequency + n : frequency;
}

TEST(Framing, EveryFrequencyOfTheCutGoesToItsBlock) {
  const std::vector<DetectorFrame> frames{
      geometry::whole_detector({4, 5}), make_frame({5, 6}, {3, 4}, 1, {}),
      make_frame({6, 7}, {6, 6}, 3, {}), make_frame({6, 8}, {4, 6}, 2, {5, 7}),
      make_frame({1, 3}, {}, 1, {4, 4})};
  for (const DetectorFrame& frame : frames)
    for (const bool centred : {true, false}) {
      std::vector<double> expected(static_cast<std::size_t>(frame.pattern.size()), -1);
      const auto [h, w] = frame.recorded;
      for (int y = 0; y < frame.cut.h; ++y)
        for (int x = 0; x < frame.cut.w; ++x) {
          const int fy = y - frame.cut.h / 2;
          const int fx = x - frame.cut.w / 2;
          const int from =
              centred ? (fy + h / 2) * w + fx + w / 2 : wrapped(fy, h) * w + wrapped(fx, w);
          const int to_y = wrapped(y / frame.bin - frame.binned().h / 2, frame.pattern.h);
          const int to_x = wrapped(x / frame.bin - frame.binned().w / 2, frame.pattern.w);
          double& sum = expected[static_cast<std::size_t>(to_y * frame.pattern.w + to_x)];
          sum = std::max(sum, 0.0) + std::ldexp(1.0, from);
        }
      EXPECT_EQ(framed(frame, centred), expected) << frame.recorded.h << " x " << frame.recorded.w;
    }
}

TEST(Framing, NeedsOnlyTheCutOfACentredPattern) {
  const DetectorFrame frame = make_frame({8, 9}, {4, 6}, 2, {});
  EXPECT_EQ(Framing(frame, true).needed(), Box::at({2, 1}, {4, 6}));
  EXPECT_EQ(Framing(frame, false).needed(), Box::at({0, 0}, {8, 9}));
}

}  // namespace
}  // namespace tessera::io

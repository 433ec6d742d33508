// Where recorded pixels go, against loops over frequencies.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "tessera/base/error.hpp"

#include "framing.hpp"

namespace tessera::io {
namespace {

using geometry::DetectorFrame;
using geometry::make_frame;

/// What each pixel of the pattern is the sum of: recorded pixel i holds 2^i, so that a sum tells
/// its terms. -1: not visited.
std::vector<double> framed(const DetectorFrame& frame, bool centred) {
  const Framing framing(frame, centred ? ZeroFrequency::centre : ZeroFrequency::corner);
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
  EXPECT_EQ(Framing(frame, ZeroFrequency::centre).needed(), Box::at({2, 1}, {4, 6}));
  EXPECT_EQ(Framing(frame, ZeroFrequency::corner).needed(), Box::at({0, 0}, {8, 9}));
}

/// The pattern of a recorded image, whose pixels are numbered; -1: not recorded.
std::vector<int> pattern_of(const DetectorFrame& frame, ZeroFrequency at, Shape2 stored,
                            const std::vector<int>& image) {
  const Framing framing(frame, at);
  const Box held = framing.needed();
  std::vector<int> pattern(static_cast<std::size_t>(frame.pattern.size()), -1);
  framing.for_each_pixel(held, [&](std::int64_t pixel, const auto& all_recorded) {
    all_recorded([&](std::int64_t i) {
      const int y = held.begin.y + static_cast<int>(i) / held.width();
      const int x = held.begin.x + static_cast<int>(i) % held.width();
      pattern[static_cast<std::size_t>(pixel)] = image[static_cast<std::size_t>(y * stored.w + x)];
    });
  });
  return pattern;
}

TEST(Framing, TurnedIsAsIfTheImageHadBeenWrittenTurned) {
  const Shape2 stored{5, 8};
  std::vector<int> image(static_cast<std::size_t>(stored.size()));
  std::iota(image.begin(), image.end(), 0);
  for (const bool transpose : {false, true})
    for (const bool flip_y : {false, true})
      for (const bool flip_x : {false, true}) {
        const geometry::Turn turn{transpose, flip_y, flip_x};
        const Shape2 shape = turned_shape(stored, turn);
        std::vector<int> turned;
        for (int y = 0; y < shape.h; ++y)
          for (int x = 0; x < shape.w; ++x) {
            const int from_y = flip_y ? shape.h - 1 - y : y;
            const int from_x = flip_x ? shape.w - 1 - x : x;
            turned.push_back(transpose ? from_x * stored.w + from_y : from_y * stored.w + from_x);
          }
        for (const ZeroFrequency at :
             {ZeroFrequency::centre, ZeroFrequency::corner, ZeroFrequency::nowhere})
          EXPECT_EQ(pattern_of(make_frame(stored, {4, 4}, 1, {6, 6}, turn), at, stored, image),
                    pattern_of(make_frame(shape, {4, 4}, 1, {6, 6}), at, shape, turned))
              << transpose << flip_y << flip_x;
      }
}

TEST(Framing, IsCutAboutTheCentreThatIsGiven) {
  const Shape2 stored{8, 9};
  std::vector<int> image(static_cast<std::size_t>(stored.size()));
  std::iota(image.begin(), image.end(), 0);
  const DetectorFrame frame = make_frame(stored, {2, 2}, 1, {}, {}, Vec2{3.4, 5.6});
  EXPECT_EQ(pattern_of(frame, ZeroFrequency::centre, stored, image),
            (std::vector<int>{3 * 9 + 6, 3 * 9 + 5, 2 * 9 + 6, 2 * 9 + 5}));
  EXPECT_EQ(make_frame(stored, {}, 1, {}, {}, Vec2{3.4, 5.6}).cut, (Shape2{6, 6}));
  EXPECT_EQ(make_frame(stored, {}, 2, {}, {}, Vec2{3.4, 5.6}).cut, (Shape2{4, 4}));
  EXPECT_THROW(make_frame(stored, {8, 8}, 1, {}, {}, Vec2{3, 5}), InputError);
  EXPECT_THROW(make_frame(stored, {}, 1, {}, {}, Vec2{30, 5}), InputError);
}

TEST(Framing, NearFieldImagesKeepTheirOrder) {
  const Shape2 stored{4, 5};
  std::vector<int> image(static_cast<std::size_t>(stored.size()));
  std::iota(image.begin(), image.end(), 0);
  EXPECT_EQ(pattern_of(make_frame(stored, {}, 1, {}), ZeroFrequency::nowhere, stored, image),
            image);
  EXPECT_EQ(
      pattern_of(make_frame(stored, {2, 2}, 1, {4, 4}), ZeroFrequency::nowhere, stored, image),
      (std::vector<int>{-1, -1, -1, -1, -1, 6, 7, -1, -1, 11, 12, -1, -1, -1, -1, -1}));
}

}  // namespace
}  // namespace tessera::io

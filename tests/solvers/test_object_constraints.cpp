// Object constraints on tiles, ghosts too, against plain loops over the whole object.

#include <gtest/gtest.h>

#include "solvers/tiled_object.hpp"

namespace tessera::solvers {
namespace {

using testing::Complex;
using testing::TiledObject;

constexpr double tolerance = 3 * testing::rounding;
constexpr settings::Onset now{0};

template <class F>
WaveStack at_every_pixel(const WaveStack& object, const F& f) {
  WaveStack made = object;
  for (int i = 0; i < made.n(); ++i)
    for (int y = 0; y < made.h(); ++y)
      for (int x = 0; x < made.w(); ++x) made(i, y, x) = f(object(i, y, x), y, x);
  return made;
}

WaveStack heated(WaveStack object, double step, int n_steps) {
  for (int k = 0; k < n_steps; ++k) {
    const WaveStack before = object;
    for (int i = 0; i < object.n(); ++i)
      for (int y = 0; y < object.h(); ++y)
        for (int x = 0; x < object.w(); ++x)
          for (const auto& [dy, dx] : {std::pair{-1, 0}, {1, 0}, {0, -1}, {0, 1}}) {
            const Pixel next{y + dy, x + dx};
            if (Box::at({0, 0}, object.shape()).contains(next))
              object(i, y, x) += step * (before(i, next.y, next.x) - before(i, y, x));
          }
  }
  return object;
}

TEST(ObjectConstraints, AmplitudeBounds) {
  TiledObject tiled(2, 1);
  tiled.whole(0, 30, 30) = 0;
  tiled.upload();
  tiled.apply({.object_bounds = {.amplitude = now, .amplitude_range = {0.7, 1.1}}});
  EXPECT_LE(tiled.worst(at_every_pixel(tiled.whole,
                                       [](Complex o, int, int) {
                                         return std::polar(std::clamp(std::abs(o), 0.7, 1.1),
                                                           std::arg(o));
                                       })),
            tolerance);
}

TEST(ObjectConstraints, PhaseBoundsTakeTheNearerOneAndKeepTheAmplitude) {
  TiledObject tiled(1, 1);
  tiled.whole(0, 30, 30) = std::polar(0.8, 3.0);
  tiled.whole(0, 31, 30) = std::polar(0.8, -3.0);
  tiled.upload();
  tiled.apply({.object_bounds = {.phase = now, .phase_rad = {-0.2, 0.5}}});
  const auto bounded = [](Complex o, int, int) {
    const double phase = std::arg(o);
    if (phase >= -0.2 && phase <= 0.5) return o;
    const bool low = std::abs(std::arg(o * std::polar(1.0, 0.2))) <
                     std::abs(std::arg(o * std::polar(1.0, -0.5)));
    return std::polar(std::abs(o), low ? -0.2 : 0.5);
  };
  EXPECT_LE(tiled.worst(at_every_pixel(tiled.whole, bounded)), tolerance);
}

TEST(ObjectConstraints, PositivePhase) {
  TiledObject tiled(1, 1);
  tiled.apply({.object_bounds = {.positive_phase = now}});
  const auto positive = [](Complex o, int, int) {
    if (o.imag() >= 0) return o;
    return Complex(o.real() < 0 ? -std::abs(o) : std::abs(o));
  };
  EXPECT_LE(tiled.worst(at_every_pixel(tiled.whole, positive)), tolerance);
}

TEST(ObjectConstraints, SupportIsADisc) {
  TiledObject tiled(2, 1);
  tiled.apply({.object_bounds = {.support = now, .support_radius_px = 20}});
  const auto inside_alone = [](Complex o, int y, int x) {
    return std::hypot(y - 30.0, x - 26.5) <= 20 ? o : Complex(1);
  };
  EXPECT_LE(tiled.worst(at_every_pixel(tiled.whole, inside_alone)), tolerance);
}

TEST(ObjectConstraints, SupportIsTheScannedArea) {
  TiledObject tiled(1, 1);
  tiled.apply({.object_bounds = {.support = now}});
  const auto scanned_alone = [&](Complex o, int y, int x) {
    for (const Pixel& corner : tiled.corner)
      if (Box::at({corner.y + 4, corner.x + 3}, {8, 7}).contains(Pixel{y, x})) return o;
    return Complex(1);
  };
  const WaveStack expected = at_every_pixel(tiled.whole, scanned_alone);
  ASSERT_EQ(expected(0, 60, 53), Complex(1));
  EXPECT_LE(tiled.worst(expected), tolerance);
}

TEST(ObjectConstraints, L1ShrinksTheDifferenceFromVacuum) {
  TiledObject tiled(1, 1);
  tiled.apply({.object_bounds = {.l1 = now, .l1_threshold = 0.3}});
  const auto shrunk = [](Complex o, int, int) {
    return 1.0 + std::polar(std::max(0.0, std::abs(o - 1.0) - 0.3), std::arg(o - 1.0));
  };
  EXPECT_LE(tiled.worst(at_every_pixel(tiled.whole, shrunk)), tolerance);
}

TEST(ObjectConstraints, SmoothnessIsAStepDownTheSquaredGradient) {
  TiledObject tiled(2, 1);
  tiled.apply({.smoothness = {now, 0.07}});
  EXPECT_LE(tiled.worst(heated(tiled.whole, 0.07, 1)), tolerance);
}

TEST(ObjectConstraints, LowPassIsAGaussian) {
  TiledObject tiled(1, 1);
  tiled.apply({.low_pass = {now, 1.2}});
  EXPECT_LE(tiled.worst(heated(tiled.whole, 1.2 * 1.2 / 2 / 6, 6)), tolerance);

  for (Complex& value : tiled.whole) value = 0;
  tiled.whole(0, 30, 26) = 1;
  tiled.upload();
  tiled.apply({.low_pass = {now, 1.2}});
  const WaveStack spread = tiled.gathered();
  double sum = 0;
  double variance_y = 0;
  double variance_x = 0;
  for (int y = 0; y < spread.h(); ++y)
    for (int x = 0; x < spread.w(); ++x) {
      sum += spread(0, y, x).real();
      variance_y += (y - 30) * (y - 30) * spread(0, y, x).real();
      variance_x += (x - 26) * (x - 26) * spread(0, y, x).real();
    }
  EXPECT_NEAR(sum, 1, 1e-5);
  EXPECT_NEAR(variance_y, 1.44, 1e-5);
  EXPECT_NEAR(variance_x, 1.44, 1e-5);
}

TEST(ObjectConstraints, SliceCouplingIsAGaussianAlongZ) {
  constexpr int n_slices = 3;
  TiledObject tiled(2 * n_slices, 1);  // two object modes
  tiled.n_slices = n_slices;
  tiled.apply({.slice_coupling = {now, 0.8}});
  WaveStack expected = tiled.whole;
  for (int k = 0; k < 2; ++k) {
    const WaveStack before = expected;
    for (int i = 0; i < expected.n(); ++i)
      for (int y = 0; y < expected.h(); ++y)
        for (int x = 0; x < expected.w(); ++x)
          for (const int next : {i - 1, i + 1})
            if (next >= 0 && next < expected.n() && next / n_slices == i / n_slices)
              expected(i, y, x) += 0.16 * (before(next, y, x) - before(i, y, x));
  }
  EXPECT_LE(tiled.worst(expected), tolerance);
}

TEST(ObjectConstraints, SliceCouplingOfCoarsePartsLeavesFineOnes) {
  constexpr int n_slices = 3;
  TiledObject tiled(2 * n_slices, 1);  // two object modes
  tiled.n_slices = n_slices;
  tiled.apply({.slice_coupling = {now, 0.8, 0.9}});
  WaveStack expected = tiled.whole;
  for (int k = 0; k < 2; ++k) {
    WaveStack change(expected.n(), expected.shape());
    for (int i = 0; i < expected.n(); ++i)
      for (int y = 0; y < expected.h(); ++y)
        for (int x = 0; x < expected.w(); ++x)
          for (const int next : {i - 1, i + 1})
            if (next >= 0 && next < expected.n() && next / n_slices == i / n_slices)
              change(i, y, x) += 0.16 * (expected(next, y, x) - expected(i, y, x));
    change = heated(change, 0.9 * 0.9 / 2 / 4, 4);
    for (std::size_t i = 0; i < change.size(); ++i) expected.data()[i] += change.data()[i];
  }
  EXPECT_LE(tiled.worst(expected), tolerance);
}

/// Gradient of plane i by forward differences, zero past the border.
struct Gradient {
  const WaveStack& u;
  Complex y(int i, int at, int x) const {
    return at + 1 < u.h() ? u(i, at + 1, x) - u(i, at, x) : 0;
  }
  Complex x(int i, int at_y, int at) const {
    return at + 1 < u.w() ? u(i, at_y, at + 1) - u(i, at_y, at) : 0;
  }
};

double total_variation(const WaveStack& u) {
  const Gradient gradient{u};
  double sum = 0;
  for (int i = 0; i < u.n(); ++i)
    for (int y = 0; y < u.h(); ++y)
      for (int x = 0; x < u.w(); ++x)
        sum += std::sqrt(std::norm(gradient.y(i, y, x)) + std::norm(gradient.x(i, y, x)));
  return sum;
}

WaveStack with_less_variation(const WaveStack& image, double weight) {
  WaveStack u = image;
  WaveStack dual_y(u.n(), u.shape());
  WaveStack dual_x(u.n(), u.shape());
  for (int round = 0; round < 20; ++round) {
    const Gradient gradient{u};
    for (int i = 0; i < u.n(); ++i)
      for (int y = 0; y < u.h(); ++y)
        for (int x = 0; x < u.w(); ++x) {
          dual_y(i, y, x) += 0.249 / weight * gradient.y(i, y, x);
          dual_x(i, y, x) += 0.249 / weight * gradient.x(i, y, x);
          const double length = std::sqrt(std::norm(dual_y(i, y, x)) + std::norm(dual_x(i, y, x)));
          dual_y(i, y, x) /= std::max(1.0, length);
          dual_x(i, y, x) /= std::max(1.0, length);
        }
    for (int i = 0; i < u.n(); ++i)
      for (int y = 0; y < u.h(); ++y)
        for (int x = 0; x < u.w(); ++x)
          u(i, y, x) =
              image(i, y, x) + weight * (dual_y(i, y, x) - (y > 0 ? dual_y(i, y - 1, x) : 0) +
                                         dual_x(i, y, x) - (x > 0 ? dual_x(i, y, x - 1) : 0));
  }
  return u;
}

TEST(ObjectConstraints, TotalVariationIsThatOfTheWholeObjectWithoutSeams) {
  constexpr double weight = 0.3;
  TiledObject tiled(2, 1);
  tiled.apply({.total_variation = {now, weight}});
  EXPECT_LE(tiled.worst(with_less_variation(tiled.whole, weight)), 3 * tolerance);

  const WaveStack smooth = tiled.gathered();
  WaveStack change = smooth;
  for (std::size_t i = 0; i < change.size(); ++i) change.data()[i] -= tiled.whole.data()[i];
  const double before = weight * total_variation(tiled.whole);
  const double after = weight * total_variation(smooth);
  const double distance = testing::norm(change);
  EXPECT_LE(after, 0.5 * before);
  EXPECT_LE(distance * distance / 2 + after, before);
}

/// A step between a wide left and right part: each comes nearer by weight / width, and stays flat.
TEST(ObjectConstraints, TotalVariationLowersAStepByItsWeight) {
  TiledObject tiled(1, 1);
  for (int y = 0; y < TiledObject::shape.h; ++y)
    for (int x = 0; x < TiledObject::shape.w; ++x) tiled.whole(0, y, x) = x < 2 ? 0 : 1;
  tiled.upload();
  tiled.apply({.total_variation = {now, 0.1}});
  const WaveStack smooth = tiled.gathered();
  for (const int y : {0, 30, 60})
    for (const int x : {0, 1}) EXPECT_NEAR(smooth(0, y, x).real(), 0.05, 1e-3) << y << " " << x;
}

TEST(ObjectConstraints, ActFromTheirEpochOnAndEverySoManyEpochs) {
  TiledObject tiled(1, 1);
  const settings::Constraints settings{.smoothness = {{2, 3}, 0.1}};
  WaveStack expected = tiled.whole;
  for (int epoch = 0; epoch < 7; ++epoch) {
    tiled.apply(settings, epoch);
    if (epoch == 2 || epoch == 5) expected = heated(expected, 0.1, 1);
    EXPECT_LE(tiled.worst(expected), tolerance) << "epoch " << epoch;
  }
}

TEST(ObjectConstraints, RefuseATileWithoutTheGhostsThatTheyNeed) {
  const TiledObject tiled(1, 1);
  ConstrainedTile bare = tiled.constrained();
  bare.ghosted = bare.owned = {{1, 1}, {9, 9}};
  const settings::Constraints pixelwise{.object_bounds = {.l1 = now, .l1_threshold = 0.1}};
  const settings::Constraints stencil{.smoothness = {now, 0.1}};
  const fft::Plan plan(bare.window, fft::Planning::reproducible);
  EXPECT_NO_THROW(ConstraintList(pixelwise, bare, plan));
  EXPECT_THROW(ConstraintList(stencil, bare, plan), std::invalid_argument);
}

}  // namespace
}  // namespace tessera::solvers

// A known shift of a known object is what the correlation finds.

#include <gtest/gtest.h>

#include "physics/position_correlation.hpp"
#include "support/small_scan.hpp"

namespace tessera::physics::position_correlation_tests {
namespace {

using device::DeviceView;
using testing::Complex;

constexpr Shape2 window{24, 20};
constexpr int n_positions = 3;
constexpr std::array<Vec2, n_positions> error_px{Vec2{0.3, -0.45}, Vec2{-0.02, 0.6}, Vec2{0, 0}};
constexpr std::array<Pixel, n_positions> corner{Pixel{2, 1}, Pixel{0, 4}, Pixel{3, 3}};
constexpr bool in_float = sizeof(Real) == 4;

/// Repeats itself with the window; mode `o` of the object.
Complex object_at(int o, double y, double x) {
  const double v = 2 * M_PI * y / window.h;
  const double u = 2 * M_PI * x / window.w;
  return std::polar(1 - 0.2 * std::cos(2 * u + v),
                    0.7 * std::sin(u) + 0.5 * std::cos(2 * v + o) + 0.3 * std::sin(u - 3 * v));
}

/// |P|^2 of all modes: 1 everywhere, or a beam whose edge the window holds.
double power_at(bool is_flat, int y, int x) {
  const double v = (y - 11.5) / 5;
  const double u = (x - 9.5) / 4;
  return is_flat ? 1 : std::exp(-v * v - u * u);
}

/// Two probe modes and, of each beam and object mode, chi as if the object had been shifted.
struct Shifted {
  ModelOptions options{.n_modes = 2,
                       .n_object_modes = 2,
                       .own_probes = true,
                       .correlates_positions = true,
                       .chunk_size = n_positions,
                       .planning = fft::Planning::reproducible};
  WaveStack object{2, {window.h + 4, window.w + 5}};
  WaveStack probes{2 * n_positions, window};
  WaveStack waves{4 * n_positions, window};

  explicit Shifted(bool is_flat) {
    for (int o = 0; o < 2; ++o)
      for (int y = 0; y < object.h(); ++y)
        for (int x = 0; x < object.w(); ++x) object(o, y, x) = object_at(o, y, x);
    for (int j = 0; j < n_positions; ++j)
      for (int y = 0; y < window.h; ++y)
        for (int x = 0; x < window.w; ++x) set_pixel(is_flat, j, y, x);
  }
  void set_pixel(bool is_flat, int j, int y, int x) {
    const double size = std::sqrt(power_at(is_flat, y, x));
    for (int m = 0; m < 2; ++m) {
      const Complex p = std::polar(size * (m == 0 ? 0.6 : 0.8), 0.3 * x * (m + 1) + 0.2 * y * y);
      probes(2 * j + m, y, x) = p;
      for (int o = 0; o < 2; ++o) {
        const double at_y = corner[j].y + y;
        const double at_x = corner[j].x + x;
        waves(4 * j + 2 * o + m, y, x) =
            p *
            (object_at(o, at_y + error_px[j].y, at_x + error_px[j].x) - object_at(o, at_y, at_x));
      }
    }
  }
};

/// Slopes and curvatures, (position, column).
auto found(const Shifted& shifted) {
  ScanTile tile;
  tile.window = window;
  std::vector<int> corners;
  for (const Pixel& c : corner) corners.insert(corners.end(), {c.y, c.x});
  tile.corner = device::to_device<DeviceView<int* [2]>>("corner", corners.data(),
                                                        Kokkos::LayoutRight(n_positions, 2));
  const std::vector<int> order{0, 1, 2};
  tile.order = device::to_device<DeviceView<int*>>("order", order.data(), Kokkos::LayoutRight(3));
  const device::Device exec;
  const fft::Plan plan(window, fft::Planning::reproducible);
  const PositionCorrelation correlation(tile, shifted.options, plan);
  ParameterSlopes slopes;
  slopes.at_position = DeviceView<double** [2]>("slopes", n_positions, 3);
  const auto object = testing::on_device(shifted.object);
  const auto probes = testing::on_device(shifted.probes);
  const auto waves = testing::on_device(shifted.waves);
  const WavesView by_position(waves.data(), n_positions, 4, window.h, window.w);
  correlation.add(exec, object, {.count = n_positions}, probes.data(), by_position, 1, slopes);
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), slopes.at_position);
}

TEST(PositionCorrelation, FindsASubPixelShiftUnderAnEvenBeam) {
  const auto slopes = found(Shifted(true));
  for (int j = 0; j < n_positions; ++j) {
    EXPECT_NEAR(slopes(j, 0, 0), error_px[j].y, in_float ? 1e-5 : 1e-6) << "position " << j;
    EXPECT_NEAR(slopes(j, 1, 0), error_px[j].x, in_float ? 1e-5 : 1e-6) << "position " << j;
    EXPECT_EQ(slopes(j, 0, 1), 1) << "how often it was found";
  }
}

/// The beam stands still, and holds the peak back a little.
TEST(PositionCorrelation, FindsMostOfAShiftUnderABeamWithAnEdge) {
  const auto slopes = found(Shifted(false));
  for (int j = 0; j < n_positions; ++j) {
    const double left =
        std::hypot(error_px[j].y - slopes(j, 0, 0), error_px[j].x - slopes(j, 1, 0));
    EXPECT_LE(left, 0.2 * std::hypot(error_px[j].y, error_px[j].x) + 1e-6) << "position " << j;
  }
}

}  // namespace
}  // namespace tessera::physics::position_correlation_tests

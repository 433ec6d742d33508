#pragma once
/// A small random scan on the device with host copies in double, for kernel tests.

#include <random>

#include "tessera/physics/pattern_store.hpp"

#include "physics/forward_model.hpp"
#include "support/plain_model.hpp"

namespace tessera::testing {

inline WaveStack random_waves(int n, Shape2 shape, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  WaveStack waves(n, shape);
  // Rounded to Real, so that host and device hold the same numbers.
  for (Complex& value : waves)
    value = {static_cast<double>(static_cast<Real>(normal(random))),
             static_cast<double>(static_cast<Real>(normal(random)))};
  return waves;
}

inline device::DeviceView<device::complex***> on_device(const WaveStack& waves) {
  device::DeviceView<device::complex***> made("waves", static_cast<std::size_t>(waves.n()),
                                              static_cast<std::size_t>(waves.h()),
                                              static_cast<std::size_t>(waves.w()));
  const auto host = Kokkos::create_mirror_view(made);
  for (int i = 0; i < waves.n(); ++i)
    for (int y = 0; y < waves.h(); ++y)
      for (int x = 0; x < waves.w(); ++x)
        host(i, y, x) = device::complex(static_cast<Real>(waves(i, y, x).real()),
                                        static_cast<Real>(waves(i, y, x).imag()));
  Kokkos::deep_copy(made, host);
  return made;
}

inline WaveStack on_host(const device::DeviceView<device::complex***>& view) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  WaveStack waves(static_cast<int>(view.extent(0)),
                  {static_cast<int>(view.extent(1)), static_cast<int>(view.extent(2))});
  for (int i = 0; i < waves.n(); ++i)
    for (int y = 0; y < waves.h(); ++y)
      for (int x = 0; x < waves.w(); ++x)
        waves(i, y, x) = {host(i, y, x).real(), host(i, y, x).imag()};
  return waves;
}

/// sum conj(a) b
inline Complex inner(const WaveStack& a, const WaveStack& b) {
  Complex sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::conj(a.data()[i]) * b.data()[i];
  return sum;
}

/// Zero sums of the shapes of object and probe.
inline physics::GradientSums zero_sums(const physics::ObjectView& object,
                                       const physics::ProbeView& probe) {
  return {physics::ObjectView("object_sum", object.layout()),
          device::DeviceView<Real***>("dose", object.layout()),
          physics::ProbeView("probe_sum", probe.layout()),
          device::DeviceView<Real**>("overlap", probe.extent(1), probe.extent(2))};
}

struct SmallScan {
  Shape2 window;
  WaveStack object;
  WaveStack probe;
  std::vector<Pixel> corner;
  std::vector<Vec2> subpixel;
  ImageStack<double> counts;
  ImageStack<std::uint8_t> valid_pixels;
  physics::ScanTile tile;
  physics::Chunk all;  ///< every position; without another layout each has a slot of its own
};

/// Rounding of a sum of some hundred Reals, relative.
inline constexpr double rounding = sizeof(Real) == 4 ? 3e-6 : 1e-13;

inline SmallScan make_small_scan(Shape2 window, int n_modes, int n_positions, bool subpixel,
                                 unsigned seed = 1) {
  const Shape2 object_shape{window.h + 9, window.w + 7};
  SmallScan scan{
      window, random_waves(1, object_shape, seed),     random_waves(n_modes, window, seed + 1), {},
      {},     ImageStack<double>(n_positions, window), ImageStack<std::uint8_t>(1, window, 1),  {},
      {}};
  std::mt19937 random(seed + 2);
  for (int j = 0; j < n_positions; ++j) {
    scan.corner.push_back({static_cast<int>(random() % 10), static_cast<int>(random() % 8)});
    const auto part = [&] {
      return subpixel ? static_cast<double>(
                            static_cast<Real>(static_cast<double>(random() % 1000) / 1000 - 0.5))
                      : 0.0;
    };
    scan.subpixel.push_back({part(), part()});
  }
  for (double& value : scan.counts) value = static_cast<double>(random() % 50);
  for (std::uint8_t& value : scan.valid_pixels) value = random() % 8 != 0;

  using device::DeviceView;
  const auto n = static_cast<std::size_t>(n_positions);
  const auto h = static_cast<std::size_t>(window.h);
  const auto w = static_cast<std::size_t>(window.w);
  std::vector<int> corner;
  std::vector<Real> shift;
  std::vector<int> order;
  std::vector<int> slot;
  for (int j = 0; j < n_positions; ++j) {
    corner.insert(corner.end(), {scan.corner[j].y, scan.corner[j].x});
    shift.insert(shift.end(),
                 {static_cast<Real>(scan.subpixel[j].y), static_cast<Real>(scan.subpixel[j].x)});
    order.push_back(j);
    slot.push_back(subpixel ? j : 0);
  }
  const std::vector<std::uint16_t> counts(scan.counts.begin(), scan.counts.end());
  using Layout = Kokkos::LayoutRight;
  scan.tile.window = window;
  scan.tile.has_subpixel = subpixel;
  scan.tile.corner = device::to_device<DeviceView<int* [2]>>("corner", corner.data(), Layout(n, 2));
  scan.tile.patterns = std::make_shared<physics::ResidentPatterns>(
      device::to_device<DeviceView<std::uint16_t***>>("patterns", counts.data(), Layout(n, h, w)));
  scan.tile.valid_pixels = device::to_device<DeviceView<Real**>>(
      "valid", std::vector<Real>(scan.valid_pixels.begin(), scan.valid_pixels.end()).data(),
      Layout(h, w));
  scan.tile.order = device::to_device<DeviceView<int*>>("order", order.data(), Layout(n));
  scan.tile.slot = device::to_device<DeviceView<int*>>("slot", slot.data(), Layout(n));
  scan.tile.slot_shift =
      device::to_device<DeviceView<Real* [2]>>("slot_shift", shift.data(), Layout(n, 2));
  const int n_slots = subpixel ? n_positions : 1;
  scan.all = {.count = n_positions, .n_slots = n_slots, .seen_end = n_slots};
  return scan;
}

}  // namespace tessera::testing

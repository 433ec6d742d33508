#include "physics/update_weight.hpp"

#include "physics/inner_product.hpp"

namespace tessera::physics {

using device::Device;
using device::DeviceView;

void find_max_power(const Device& exec, const ProbeView& probe, const DeviceView<Real>& max) {
  const auto n_modes = static_cast<int>(probe.extent(0));
  const auto h = static_cast<int>(probe.extent(1));
  const auto w = static_cast<int>(probe.extent(2));
  Kokkos::parallel_reduce(
      device::kernel_name("tessera::physics::max_power"),
      Kokkos::RangePolicy<Device>(exec, 0, h * w),
      KOKKOS_LAMBDA(const int pixel, Real& found) {
        Real power = 0;
        for (int m = 0; m < n_modes; ++m)
          power += squared_magnitude(probe(m, pixel / w, pixel % w));
        if (power > found) found = power;
      },
      Kokkos::Max<Real, Device::memory_space>(max));
}

void find_max(const Device& exec, const DeviceView<Real**>& values, const DeviceView<Real>& max) {
  const auto w = static_cast<int>(values.extent(1));
  Kokkos::parallel_reduce(
      device::kernel_name("tessera::physics::max"),
      Kokkos::RangePolicy<Device>(exec, 0, static_cast<int>(values.size())),
      KOKKOS_LAMBDA(const int pixel, Real& found) {
        const Real value = values(pixel / w, pixel % w);
        if (value > found) found = value;
      },
      Kokkos::Max<Real, Device::memory_space>(max));
}

}  // namespace tessera::physics

#include "tessera/solvers/batch_sums.hpp"

#include "tessera/physics/inner_product.hpp"

namespace tessera::solvers {

using device::complex;
using device::Device;
using device::DeviceView;

BatchSums::BatchSums(const Unknowns& unknowns)
    : shared_("tessera::solvers::shared_sums",
              2 * unknowns.probe.size() + unknowns.probe.extent(1) * unknowns.probe.extent(2)) {
  const auto object = unknowns.object.layout();
  const auto& probe = unknowns.probe;
  sums_ = {physics::ObjectView("tessera::solvers::object_sum", object),
           DeviceView<Real***>("tessera::solvers::illumination", object),
           physics::ProbeView(reinterpret_cast<complex*>(shared_.data()), probe.extent(0),
                              probe.extent(1), probe.extent(2)),
           DeviceView<Real**>(shared_.data() + 2 * probe.size(), probe.extent(1), probe.extent(2))};
}

void set_steps(const Device& exec, const DeviceView<Real[2]>& steps, double object, double probe) {
  const auto object_step = static_cast<Real>(object);
  const auto probe_step = static_cast<Real>(probe);
  Kokkos::parallel_for(
      device::kernel_name("tessera::solvers::steps"), Kokkos::RangePolicy<Device>(exec, 0, 1),
      KOKKOS_LAMBDA(int) {
        steps(0) = object_step;
        steps(1) = probe_step;
      });
}

void find_greatest_power(const Device& exec, const physics::ProbeView& probe,
                         const DeviceView<Real>& greatest) {
  const auto n_modes = static_cast<int>(probe.extent(0));
  const auto h = static_cast<int>(probe.extent(1));
  const auto w = static_cast<int>(probe.extent(2));
  Kokkos::parallel_reduce(
      device::kernel_name("tessera::solvers::greatest_power"),
      Kokkos::RangePolicy<Device>(exec, 0, h * w),
      KOKKOS_LAMBDA(const int pixel, Real& most) {
        Real power = 0;
        for (int m = 0; m < n_modes; ++m)
          power += physics::squared_magnitude(probe(m, pixel / w, pixel % w));
        if (power > most) most = power;
      },
      Kokkos::Max<Real, Device::memory_space>(greatest));
}

void find_greatest(const Device& exec, const DeviceView<Real**>& values,
                   const DeviceView<Real>& greatest) {
  const auto w = static_cast<int>(values.extent(1));
  Kokkos::parallel_reduce(
      device::kernel_name("tessera::solvers::greatest"),
      Kokkos::RangePolicy<Device>(exec, 0, static_cast<int>(values.size())),
      KOKKOS_LAMBDA(const int pixel, Real& most) {
        const Real value = values(pixel / w, pixel % w);
        if (value > most) most = value;
      },
      Kokkos::Max<Real, Device::memory_space>(greatest));
}

}  // namespace tessera::solvers

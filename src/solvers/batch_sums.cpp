#include "solvers/batch_sums.hpp"

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
           DeviceView<Real***>("tessera::solvers::dose", object),
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

}  // namespace tessera::solvers

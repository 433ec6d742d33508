#include "physics/figures.hpp"

#include <algorithm>

namespace tessera::physics {

RunningFigures::RunningFigures()
    : sums_("tessera::physics::figures", FigureSums::n_sums),
      scratch_("tessera::physics::figures_scratch", FigureSums::n_sums),
      host_("tessera::physics::host_figures", FigureSums::n_sums) {}

FigureSums RunningFigures::take(const device::Device& exec) {
  Kokkos::deep_copy(exec, host_, sums_);
  device::set_zero(exec, sums_);
  exec.fence();
  FigureSums taken;
  std::copy_n(host_.data(), taken.values.size(), taken.values.begin());
  return taken;
}

void RunningFigures::take(const device::Device& exec, const device::DeviceView<double*>& taken) {
  const auto sums = sums_;
  Kokkos::parallel_for(
      device::kernel_name("tessera::physics::take_figures"),
      Kokkos::RangePolicy<device::Device>(exec, 0, static_cast<int>(FigureSums::n_sums)),
      KOKKOS_LAMBDA(const int k) {
        taken(k) = sums(k);
        sums(k) = 0;
      });
}

}  // namespace tessera::physics

#include "position_gain.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::solvers {

using device::Device;
using device::DeviceView;

namespace {

constexpr int n_sums = 3;
constexpr double min_gain = 0.1;

/// Array reduction over positions.
struct Agreement {
  using value_type = double[];
  static constexpr unsigned value_count = n_sums;
  DeviceView<double* [2]> found;
  DeviceView<double* [2]> last;
  KOKKOS_FUNCTION void operator()(const int i, double sum[]) const {
    for (int axis = 0; axis < 2; ++axis) {
      sum[0] += found(i, axis) * last(i, axis);
      sum[1] += found(i, axis) * found(i, axis);
      sum[2] += last(i, axis) * last(i, axis);
    }
  }
};

}  // namespace

PositionGain::PositionGain(std::size_t n_positions, double max)
    : max_(max),
      found_("tessera::solvers::found_errors", n_positions),
      last_("tessera::solvers::last_errors", n_positions),
      sums_("tessera::solvers::gain_sums", n_sums),
      host_sums_("tessera::solvers::host_gain_sums", n_sums) {}

void PositionGain::remember(const Device& exec, const DeviceView<double** [2]>& slopes) {
  const auto found = found_;
  Kokkos::parallel_for(
      device::kernel_name("tessera::solvers::remember_errors"),
      Kokkos::RangePolicy<Device>(exec, 0, static_cast<int>(found.extent(0))),
      KOKKOS_LAMBDA(const int i) {
        for (int axis = 0; axis < 2; ++axis)
          if (slopes(i, axis, 1) > 0) found(i, axis) = slopes(i, axis, 0) / slopes(i, axis, 1);
      });
}

void PositionGain::finish_epoch(const Device& exec, Sweep& sweep) {
  Kokkos::parallel_reduce(device::kernel_name("tessera::solvers::error_agreement"),
                          Kokkos::RangePolicy<Device>(exec, 0, static_cast<int>(found_.extent(0))),
                          Agreement{found_, last_}, sums_);
  sweep.all_reduce(exec, sums_);
  Kokkos::deep_copy(exec, host_sums_, sums_);
  Kokkos::deep_copy(exec, last_, found_);
  exec.fence();
  const double size = std::sqrt(host_sums_(1) * host_sums_(2));
  const double agreement = size > 0 ? host_sums_(0) / size : 0;
  if (agreement > -0.25) value_ *= 1.1;
  if (agreement < -0.5) value_ *= 0.5;
  value_ = std::clamp(value_, min_gain, max_);
}

}  // namespace tessera::solvers

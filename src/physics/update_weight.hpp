#pragma once
/// What divides the sums of a batch in the updates of object and probe.

#include "physics/gradient_sums.hpp"

namespace tessera::physics {

/// What divides a pixel's sum in an update: max(sum, (1 - alpha) sum + alpha max), where `sum` is
/// that of |probe|^2 or |object|^2 over the batch, and `max` the most that one window has, or the
/// largest such sum.
KOKKOS_FUNCTION inline Real update_weight(Real sum, Real max, Real alpha) {
  const Real regularised = (1 - alpha) * sum + alpha * max;
  return sum > regularised ? sum : regularised;
}

/// max() = that over pixels of sum_m |probe_m|^2. On the device; does not wait.
void find_max_power(const device::Device& exec, const ProbeView& probe,
                    const device::DeviceView<Real>& max);
/// max() = that over pixels. On the device; does not wait.
void find_max(const device::Device& exec, const device::DeviceView<Real**>& values,
              const device::DeviceView<Real>& max);

}  // namespace tessera::physics

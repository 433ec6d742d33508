#include "probe_power.hpp"

namespace tessera::solvers {

using device::complex;
using device::Device;
using device::DeviceView;

namespace {

using Powers = DeviceView<double* [2]>;

KOKKOS_FUNCTION double total(const Powers& powers) {
  double sum = 0;
  for (int m = 0; m < static_cast<int>(powers.extent(0)); ++m) sum += powers(m, 0);
  return sum;
}

/// images *= (counts / power)^exponent
void scale(const Device& exec, const DeviceView<complex***>& images, const Powers& powers,
           double counts, double exponent) {
  device::for_each_pixel(
      exec, "tessera::solvers::scale_to_power", static_cast<int>(images.extent(0)),
      device::image_shape(images), KOKKOS_LAMBDA(const int i, const int y, const int x) {
        const double power = total(powers);
        if (power > 0)
          images(i, y, x) *= static_cast<Real>(device::math::pow(counts / power, exponent));
      });
}

}  // namespace

ProbePower::ProbePower(int n_modes)
    : n_modes_(n_modes), powers_("tessera::solvers::mode_powers", n_modes) {}

void ProbePower::measure(const Device& exec, const physics::ProbeView& probe) const {
  const Shape2 window = device::image_shape(probe);
  for (int m = 0; m < n_modes_; ++m) {
    const complex* mode = probe.data() + m * window.size();
    inner_product_(exec, mode, mode, 1, window, DeviceView<double*>(powers_.data() + 2 * m, 2));
  }
}

void ProbePower::raise_weak_modes(const Device& exec, const physics::ProbeView& probe,
                                  double fraction) const {
  measure(exec, probe);
  const auto powers = powers_;
  device::for_each_pixel(
      exec, "tessera::solvers::raise_weak_modes", n_modes_, device::image_shape(probe),
      KOKKOS_LAMBDA(const int m, const int y, const int x) {
        const double power = powers(m, 0);
        const double least = fraction * total(powers);
        if (power > 0 && power < least)
          probe(m, y, x) *= static_cast<Real>(device::math::sqrt(least / power));
      });
}

void ProbePower::set(const Device& exec, const Unknowns& unknowns, int n_slices,
                     double counts) const {
  measure(exec, unknowns.probe);
  scale(exec, unknowns.probe, powers_, counts, 0.5);
  scale(exec, unknowns.object, powers_, counts, -0.5 / n_slices);
}

}  // namespace tessera::solvers

// How many counts the probe and its modes carry.

#include <optional>

#include "constraint.hpp"
#include "physics/inner_product.hpp"

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

/// The powers of the first images of the probe, which alone carry any.
class MeasuredPowers {
 public:
  explicit MeasuredPowers(int n_modes) : powers_("tessera::solvers::mode_powers", n_modes) {}
  /// Of every mode; its imaginary part is zero.
  const Powers& operator()(const Device& exec, const physics::ProbeView& probe) const {
    const Shape2 window = device::image_shape(probe);
    for (int m = 0; m < static_cast<int>(powers_.extent(0)); ++m) {
      const complex* mode = probe.data() + m * window.size();
      inner_product_(exec, mode, mode, 1, window, DeviceView<double*>(powers_.data() + 2 * m, 2));
    }
    return powers_;
  }

 private:
  physics::InnerProduct inner_product_;
  Powers powers_;
};

/// Modes with less than `fraction` of all modes' power are scaled up to it; others stay.
void raise_weak_modes(const Device& exec, const Powers& powers, double fraction,
                      const physics::ProbeView& probe) {
  device::for_each_pixel(
      exec, "tessera::solvers::raise_weak_modes", static_cast<int>(powers.extent(0)),
      device::image_shape(probe), KOKKOS_LAMBDA(const int m, const int y, const int x) {
        const double power = powers(m, 0);
        const double min = fraction * total(powers);
        if (power > 0 && power < min)
          probe(m, y, x) *= static_cast<Real>(device::math::sqrt(min / power));
      });
}

class ModePower final : public Constraint {
 public:
  explicit ModePower(const settings::ProbeModePower& settings)
      : Constraint({settings.onset}), min_fraction_(settings.min_fraction) {}
  void allocate(const ConstrainedTile& tile) override { powers_.emplace(tile.n_probe_modes); }
  void apply(const Device& exec, Sweep& /*sweep*/, const Unknowns& unknowns,
             const ConstraintWorkspace& /*workspace*/, int /*epoch*/) const override {
    raise_weak_modes(exec, (*powers_)(exec, unknowns.probe), min_fraction_, unknowns.probe);
  }

 private:
  double min_fraction_;
  std::optional<MeasuredPowers> powers_;
};

/// The modes' power becomes `counts`; every slice of the object takes its share of the inverse
/// factor, so that no intensity changes.
class Power final : public Constraint {
 public:
  explicit Power(const settings::ProbePower& settings)
      : Constraint({settings.onset}), counts_(settings.counts) {}
  void allocate(const ConstrainedTile& tile) override {
    powers_.emplace(tile.n_probe_modes);
    if (counts_ == 0) counts_ = tile.counts_per_pattern;
  }
  void apply(const Device& exec, Sweep& /*sweep*/, const Unknowns& unknowns,
             const ConstraintWorkspace& workspace, int /*epoch*/) const override {
    const Powers& powers = (*powers_)(exec, unknowns.probe);
    scale(exec, unknowns.probe, powers, counts_, 0.5);
    scale(exec, unknowns.object, powers, counts_, -0.5 / workspace.n_slices);
  }

 private:
  double counts_;
  std::optional<MeasuredPowers> powers_;
};

}  // namespace

template <>
std::unique_ptr<Constraint> make_constraint(const settings::ProbeModePower& settings) {
  return std::make_unique<ModePower>(settings);
}

template <>
std::unique_ptr<Constraint> make_constraint(const settings::ProbePower& settings) {
  return std::make_unique<Power>(settings);
}

}  // namespace tessera::solvers

// How many counts the probe and its modes carry.

#include <optional>

#include "constraint.hpp"
#include "device/sums.hpp"
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
      : Constraint(settings.onset), min_fraction_(settings.min_fraction) {}
  void allocate(const ConstrainedTile& tile) override { powers_.emplace(tile.n_probe_modes); }
  void apply(const Device& exec, Sweep& /*sweep*/, const Unknowns& unknowns,
             const ConstraintWorkspace& /*workspace*/, int /*epoch*/) const override {
    raise_weak_modes(exec, (*powers_)(exec, unknowns.probe), min_fraction_, unknowns.probe);
  }

 private:
  double min_fraction_;
  std::optional<MeasuredPowers> powers_;
};

/// Sums on trusted pixels: the images' power, and the counts of a background.
struct RecordedCounts {
  DeviceView<complex***> images;
  DeviceView<Real**> trusted;     ///< empty: all are
  DeviceView<Real**> background;  ///< empty: none

  struct Row {
    const complex* image;
    const Real* trusted;
    const Real* background;
    KOKKOS_FUNCTION void operator()(const int x, Real* sum) const {
      if (trusted != nullptr && !(trusted[x] > 0)) return;
      sum[0] += physics::squared_magnitude(image[x]);
      if (background != nullptr) sum[1] += background[x];
    }
  };
  KOKKOS_FUNCTION Row row(const int i, const int y) const {
    return {&images(i, y, 0), trusted.size() > 0 ? &trusted(y, 0) : nullptr,
            i == 0 && background.size() > 0 ? &background(y, 0) : nullptr};
  }
};

/// images *= also (wanted / power)^exponent
struct ScaleToPower {
  DeviceView<complex***> images;
  DeviceView<double*> recorded;  ///< as RecordedCounts sums
  double counts;
  double unitary;  ///< scale of the transform that `recorded` is of, squared
  double exponent;
  double also;
  KOKKOS_FUNCTION void operator()(const int i, const int y, const int x) const {
    const double wanted = counts - recorded(1);
    const double power = unitary * recorded(0);
    const double factor = wanted > 0 && power > 0 ? device::math::pow(wanted / power, exponent) : 1;
    images(i, y, x) *= static_cast<Real>(factor * also);
  }
};

/// The modes' power becomes `counts`; every slice of the object takes its share of the inverse
/// factor, so that no intensity changes. Without counts of its own the probe brings those of the
/// patterns, less the background's, to the pixels that recorded them: the object is 1 in the mean.
class Power final : public Constraint {
 public:
  explicit Power(const settings::ProbePower& settings)
      : Constraint(settings.onset()), counts_(settings.counts) {}
  std::int64_t bytes(Shape2 window, int n_probe_images) const override {
    return counts_ > 0 ? 0 : fft::work_bytes(window, n_probe_images);
  }
  void allocate(const ConstrainedTile& tile) override {
    recorded_ = DeviceView<double*>("tessera::solvers::recorded_counts", 2);
    scratch_ = DeviceView<double*>("tessera::solvers::recorded_counts_scratch", 2);
    if (counts_ > 0) return;
    counts_ = tile.counts_per_pattern;
    background_ = tile.background;
    trusted_ = tile.trusted_by_far_field;
  }
  void apply(const Device& exec, Sweep& /*sweep*/, const Unknowns& unknowns,
             const ConstraintWorkspace& workspace, int /*epoch*/) const override {
    const physics::ProbeView& probe = unknowns.probe;
    const auto n_images = static_cast<int>(probe.extent(0));
    const bool at_detector = trusted_.size() > 0;
    const fft::Plan& plan = workspace.plan;
    if (at_detector) plan.forward(exec, probe.data(), n_images);
    device::set_zero(exec, recorded_);
    device::add_pixel_sums<2>(exec, "tessera::solvers::recorded_counts", workspace.n_probe_modes,
                              device::image_shape(probe),
                              RecordedCounts{probe, trusted_, background_}, scratch_, recorded_);
    const double unitary = at_detector ? plan.unitary_scale() * plan.unitary_scale() : 1;
    const auto scale = [&](const DeviceView<complex***>& images, double exponent, double also) {
      device::for_each_pixel(exec, "tessera::solvers::scale_to_power",
                             static_cast<int>(images.extent(0)), device::image_shape(images),
                             ScaleToPower{images, recorded_, counts_, unitary, exponent, also});
    };
    scale(probe, 0.5, unitary);
    if (at_detector) plan.inverse(exec, probe.data(), n_images);
    scale(unknowns.object, -0.5 / workspace.n_slices, 1);
  }

 private:
  double counts_;
  DeviceView<Real**> background_;
  DeviceView<Real**> trusted_;
  DeviceView<double*> recorded_;
  DeviceView<double*> scratch_;
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

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

/// A sum over `n` terms, left on the device.
template <class Term>
void add_up(const Device& exec, const char* name, std::int64_t n, const Term& term,
            const DeviceView<double>& sum) {
  Kokkos::parallel_reduce(device::kernel_name(name),
                          Kokkos::RangePolicy<Device, Kokkos::IndexType<std::int64_t>>(exec, 0, n),
                          term, sum);
}

/// Null: all pixels are trusted.
KOKKOS_FUNCTION bool is_trusted(const Real* trusted, std::int64_t pixel) {
  return trusted == nullptr || trusted[pixel] > 0;
}

struct PowerOfPixel {
  const complex* images;
  std::int64_t image_size;
  const Real* trusted;
  KOKKOS_FUNCTION void operator()(const std::int64_t i, double& sum) const {
    const auto re = static_cast<double>(images[i].real());
    const auto im = static_cast<double>(images[i].imag());
    if (is_trusted(trusted, i % image_size)) sum += re * re + im * im;
  }
};

struct CountsOfPixel {
  const Real* image;
  const Real* trusted;
  KOKKOS_FUNCTION void operator()(const std::int64_t i, double& sum) const {
    if (is_trusted(trusted, i)) sum += image[i];
  }
};

/// Times `also` and the power of wanted over found.
struct ScaleToPower {
  DeviceView<complex***> images;
  DeviceView<double> found;
  DeviceView<double> beside;
  double counts;
  double unitary;  ///< of `found`
  double exponent;
  double also;
  KOKKOS_FUNCTION void operator()(const int i, const int y, const int x) const {
    const double wanted = counts - beside();
    const double power = unitary * found();
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
      : Constraint({settings.onset()}), counts_(settings.counts) {}
  std::int64_t bytes(Shape2 window, int n_probe_images) const override {
    return counts_ > 0 ? 0 : fft::work_bytes(window, n_probe_images);
  }
  void allocate(const ConstrainedTile& tile) override {
    found_ = DeviceView<double>("tessera::solvers::probe_power");
    beside_ = DeviceView<double>("tessera::solvers::background_counts");
    if (counts_ > 0) return;
    counts_ = tile.counts_per_pattern;
    background_ = tile.background;
    trusted_ = tile.trusted_by_far_field;
  }
  void apply(const Device& exec, Sweep& /*sweep*/, const Unknowns& unknowns,
             const ConstraintWorkspace& workspace, int /*epoch*/) const override {
    const physics::ProbeView& probe = unknowns.probe;
    const auto n_images = static_cast<int>(probe.extent(0));
    const std::int64_t size = device::image_shape(probe).size();
    const bool at_detector = trusted_.size() > 0;
    const fft::Plan& plan = workspace.plan;
    if (at_detector) plan.forward(exec, probe.data(), n_images);
    const Real* trusted = trusted_.data();
    add_up(exec, "tessera::solvers::probe_power", workspace.n_probe_modes * size,
           PowerOfPixel{probe.data(), size, trusted}, found_);
    add_up(exec, "tessera::solvers::background_counts",
           static_cast<std::int64_t>(background_.size()),
           CountsOfPixel{background_.data(), trusted}, beside_);
    const double unitary = at_detector ? plan.unitary_scale() * plan.unitary_scale() : 1;
    const auto scale = [&](const DeviceView<complex***>& images, double exponent, double also) {
      device::for_each_pixel(
          exec, "tessera::solvers::scale_to_power", static_cast<int>(images.extent(0)),
          device::image_shape(images),
          ScaleToPower{images, found_, beside_, counts_, unitary, exponent, also});
    };
    scale(probe, 0.5, unitary);
    if (at_detector) plan.inverse(exec, probe.data(), n_images);
    scale(unknowns.object, -0.5 / workspace.n_slices, 1);
  }

 private:
  double counts_;
  DeviceView<Real**> background_;
  DeviceView<Real**> trusted_;
  DeviceView<double> found_;   ///< on the trusted pixels, by the transform's scale
  DeviceView<double> beside_;  ///< the background's
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

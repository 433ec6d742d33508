/// The beam's intensity at every position.

#include "parameter_fit.hpp"
#include "solvers/batch_sums.hpp"

namespace tessera::solvers {
namespace {

using device::Device;
using device::DeviceView;

void update_intensity(const Device& exec, const physics::ForwardModel& model, double length) {
  const auto slopes = model.slopes().at_position;
  const auto intensity = model.parameters().intensity;
  for_all(
      exec, "tessera::solvers::update_intensity", slopes.extent(0),
      KOKKOS_LAMBDA(const int position) {
        const double value =
            intensity(position) +
            length * take_step(slopes, position, physics::ParameterSlopes::intensity);
        intensity(position) = static_cast<Real>(bounded(value, 0.1, 10));
      });
}

/// sums = of intensities, number of positions, of this rank.
void add_up(const Device& exec, const DeviceView<Real*>& intensity,
            const DeviceView<double*>& sums) {
  device::set_zero(exec, sums);
  for_all(
      exec, "tessera::solvers::sum_intensity", intensity.size(), KOKKOS_LAMBDA(const int i) {
        Kokkos::atomic_add(&sums(0), static_cast<double>(intensity(i)));
        Kokkos::atomic_add(&sums(1), 1.0);
      });
}

/// Mean intensity 1: the probe takes the rest.
void hand_mean_to_probe(const Device& exec, const DeviceView<double*>& sums,
                        const DeviceView<Real*>& intensity, const DeviceView<Real*>& probe) {
  for_all(
      exec, "tessera::solvers::scale_intensity", intensity.size(),
      KOKKOS_LAMBDA(const int i) { intensity(i) *= static_cast<Real>(sums(1) / sums(0)); });
  for_all(
      exec, "tessera::solvers::scale_probe", probe.size(), KOKKOS_LAMBDA(const int i) {
        probe(i) *= static_cast<Real>(device::math::sqrt(sums(0) / sums(1)));
      });
}

class IntensityFit final : public ParameterFit {
 public:
  IntensityFit(const settings::RefinedIntensity& settings, const FitSetup& setup)
      : settings_(settings),
        probe_(setup.unknowns.probe),
        model_(setup.model),
        sums_("tessera::solvers::intensity_sums", 2) {}

  Fields fields() const override {
    if (!model_.options().own_probes) return {};
    return {field(settings::RefinedIntensity::stored.name, Lives::position,
                  model_.parameters().intensity)};
  }

  bool start_epoch(const RefinedEpoch& epoch, physics::FittedParameters& fitted) override {
    return fitted.intensity = has_begun(settings_.from_epoch, epoch);
  }

  void update(const Device& exec, Sweep&) override {
    update_intensity(exec, model_, share_of_counts(model_.fitted()) * settings_.step);
  }

  void finish_epoch(const Device& exec, Sweep& sweep) override {
    const auto intensity = model_.parameters().intensity;
    add_up(exec, intensity, sums_);
    sweep.all_reduce(exec, sums_);
    hand_mean_to_probe(exec, sums_, intensity, as_reals(probe_));
  }

 private:
  settings::RefinedIntensity settings_;
  physics::ProbeView probe_;
  physics::ForwardModel& model_;
  DeviceView<double*> sums_;  ///< of intensities, number of positions
};

}  // namespace

template <>
std::unique_ptr<ParameterFit> make_fit(const settings::RefinedIntensity& settings,
                                       const FitSetup& setup) {
  return std::make_unique<IntensityFit>(settings, setup);
}

template <>
void start_parameter(const settings::RefinedIntensity&, const ParameterStart& start,
                     physics::Parameters& parameters) {
  if (!start.model.own_probes) return;
  parameters.intensity = DeviceView<Real*>("tessera::physics::intensity", start.n_positions);
  Kokkos::deep_copy(parameters.intensity, Real(settings::RefinedIntensity::stored.at_rest));
}

}  // namespace tessera::solvers

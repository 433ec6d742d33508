/// The beam's intensity at every position (docs/methods/refinement.md).

#include <cmath>
#include <optional>

#include "parameter_fit.hpp"
#include "solvers/batch_sums.hpp"
#include "solvers/prior_width.hpp"

namespace tessera::solvers {
namespace {

using device::Device;
using device::DeviceView;

constexpr double at_rest = settings::RefinedIntensity::stored.at_rest;
constexpr int n_sums = 3;

void update_intensity(const Device& exec, const physics::ForwardModel& model, double length,
                      double hold) {
  const auto slopes = model.slopes().at_position;
  const auto intensity = model.parameters().intensity;
  for_all(
      exec, "tessera::solvers::update_intensity", slopes.extent(0),
      KOKKOS_LAMBDA(const int position) {
        constexpr int column = physics::ParameterSlopes::intensity;
        const auto now = static_cast<double>(intensity(position));
        hold_back(slopes, position, column, hold, now - at_rest);
        const double value = now + length * take_step(slopes, position, column);
        intensity(position) = static_cast<Real>(bounded(value, 0.1, 10));
      });
}

/// Array reduction: of intensities, of positions, of squares of what intensities differ from rest.
struct IntensitySums {
  using value_type = double[];
  static constexpr unsigned value_count = n_sums;
  DeviceView<Real*> intensity;
  KOKKOS_FUNCTION void operator()(const int i, double sum[]) const {
    const auto value = static_cast<double>(intensity(i));
    sum[0] += value;
    sum[1] += 1;
    sum[2] += (value - at_rest) * (value - at_rest);
  }
};

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
        sums_("tessera::solvers::intensity_sums", n_sums),
        host_sums_("tessera::solvers::host_intensity_sums", n_sums),
        expected_(settings.from_epoch, most_expected, least_expected) {}

  Fields fields() const override {
    if (!model_.options().own_probes) return {};
    return {field(settings::RefinedIntensity::stored.name, Lives::position,
                  model_.parameters().intensity)};
  }

  bool start_epoch(const RefinedEpoch& epoch, physics::FittedParameters& fitted) override {
    pixel_noise_ = epoch.pixel_noise;
    hold_.reset();
    expected_.start_epoch(epoch.number);
    return fitted.intensity = has_begun(settings_.from_epoch, epoch);
  }

  void update(const Device& exec, Sweep& sweep) override {
    if (!hold_) hold_ = found_hold(exec, sweep);
    update_intensity(exec, model_, share_of_counts(model_.fitted()) * settings_.step, *hold_);
  }

  void finish_epoch(const Device& exec, Sweep& sweep) override {
    add_up_all(exec, sweep);
    hand_mean_to_probe(exec, sums_, model_.parameters().intensity, as_reals(probe_));
  }

  void put_back(const Device& exec) override {
    Kokkos::deep_copy(exec, model_.parameters().intensity, Real(at_rest));
    expected_.start_anew();
  }

 private:
  /// Of the mean intensity, rms. Monitors know it to a few parts in a thousand.
  static constexpr double most_expected = 0.1;
  static constexpr double least_expected = 0.001;

  /// Curvature of a Gaussian prior about the mean intensity, beside the residual's own noise
  /// (docs/methods/refinement.md).
  double found_hold(const Device& exec, Sweep& sweep) {
    add_up_all(exec, sweep);
    Kokkos::deep_copy(exec, host_sums_, sums_);
    exec.fence();
    const double expected = expected_.of(std::sqrt(host_sums_(2) / host_sums_(1)));
    return pixel_noise_ / (expected * expected);
  }

  void add_up_all(const Device& exec, Sweep& sweep) {
    const IntensitySums of_rank{model_.parameters().intensity};
    Kokkos::parallel_reduce(
        device::kernel_name("tessera::solvers::sum_intensities"),
        Kokkos::RangePolicy<Device>(exec, 0, static_cast<int>(of_rank.intensity.size())), of_rank,
        sums_);
    sweep.all_reduce(exec, sums_);
  }

  settings::RefinedIntensity settings_;
  double pixel_noise_ = 0;
  std::optional<double> hold_;  ///< of the epoch
  physics::ProbeView probe_;
  physics::ForwardModel& model_;
  DeviceView<double*> sums_;
  device::HostView<double*> host_sums_;
  PriorWidth expected_;
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

/// Distances between slices, and the beam's tilt.

#include "parameter_fit.hpp"

namespace tessera::solvers {
namespace {

using device::Device;
using device::DeviceView;

/// A batch sees only a part of what these depend on.
constexpr double shared_step = 0.5;
constexpr double max_tilt_rad = 0.3;

/// @param first distances between slices at the start
void update_optics(const Device& exec, const physics::ForwardModel& model,
                   const DeviceView<double*>& first, Sweep& sweep) {
  const auto slopes = model.slopes().optics;
  const auto tilt = model.parameters().tilt_rad;
  const auto distance = model.parameters().slice_distance_m;
  sweep.all_reduce(exec, DeviceView<double*>(slopes.data(), slopes.size()));
  for_all(
      exec, "tessera::solvers::update_optics", slopes.extent(0), KOKKOS_LAMBDA(const int row) {
        const double step = slopes(row, 1) > 0 ? shared_step * slopes(row, 0) / slopes(row, 1) : 0;
        slopes(row, 0) = 0;
        slopes(row, 1) = 0;
        if (row < 2) {
          tilt(row) = bounded(tilt(row) + step, -max_tilt_rad, max_tilt_rad);
        } else {
          const double max = 0.2 * first(row - 2);  // a step at a time
          distance(row - 2) = bounded(distance(row - 2) + bounded(step, -max, max),
                                      0.1 * first(row - 2), 10 * first(row - 2));
        }
      });
}

class SliceFit final : public ParameterFit {
 public:
  SliceFit(const settings::RefinedSlices& settings, const FitSetup& setup)
      : settings_(settings),
        model_(setup.model),
        first_distance_m_("tessera::solvers::first_distance",
                          model_.parameters().slice_distance_m.extent(0)) {
    if (has_slices()) Kokkos::deep_copy(first_distance_m_, model_.parameters().slice_distance_m);
  }

  Fields fields() const override {
    if (!has_slices()) return {};
    const physics::Parameters& parameters = model_.parameters();
    return {field("slice_distance_m", Lives::everywhere, parameters.slice_distance_m),
            field("beam_tilt_rad", Lives::everywhere, parameters.tilt_rad)};
  }

  bool start_epoch(const RefinedEpoch& epoch, physics::FittedParameters& fitted) override {
    fitted.slice_distance = has_begun(settings_.thickness_from_epoch, epoch);
    fitted.tilt = has_begun(settings_.tilt_from_epoch, epoch);
    return fitted.any_of_optics();
  }

  void update(const Device& exec, Sweep& sweep) override {
    update_optics(exec, model_, first_distance_m_, sweep);
  }

 private:
  bool has_slices() const { return first_distance_m_.size() > 0; }

  settings::RefinedSlices settings_;
  physics::ForwardModel& model_;
  DeviceView<double*> first_distance_m_;
};

}  // namespace

template <>
std::unique_ptr<ParameterFit> make_fit(const settings::RefinedSlices& settings,
                                       const FitSetup& setup) {
  return std::make_unique<SliceFit>(settings, setup);
}

template <>
void start_parameter(const settings::RefinedSlices&, const ParameterStart& start,
                     physics::Parameters& parameters) {
  const int n_slices = start.object.n_slices;
  if (n_slices == 1) return;
  parameters.slice_distance_m = device::to_device<DeviceView<double*>>(
      "tessera::physics::slice_distance", start.object.distances_m().data(),
      Kokkos::LayoutRight(static_cast<std::size_t>(n_slices - 1)));
  const std::vector<double> none{0, 0};
  const std::vector<double>& given = start.experiment.beam_tilt_rad;
  parameters.tilt_rad = device::to_device<DeviceView<double[2]>>(
      "tessera::physics::tilt", given.empty() ? none.data() : given.data(),
      DeviceView<double[2]>::array_layout(2));
}

}  // namespace tessera::solvers

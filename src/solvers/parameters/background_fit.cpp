/// An incoherent background, the same in all patterns.

#include "parameter_fit.hpp"

namespace tessera::solvers {
namespace {

using device::Device;
using device::DeviceView;

/// Towards no background, as a part of it. Where the object is weak, more of the bright field in
/// the background and more contrast in the object explain the patterns as well. Where counts are
/// few their noise leads there; a Gaussian about none, a fifth of a pixel's light wide, holds it
/// back.
/// @param counts_of_scan of a pixel, in all patterns
Real pull_at(double counts_of_scan) {
  constexpr double of_weak_objects = 0.005;
  constexpr double expected = 0.2;
  return static_cast<Real>(of_weak_objects + 1 / (expected * expected * counts_of_scan));
}

void update_background(const Device& exec, const physics::ForwardModel& model, double length,
                       Real pull, Sweep& sweep) {
  const auto slopes = model.slopes().background;
  const auto background = model.parameters().background;
  sweep.all_reduce_reals(exec, DeviceView<Real*>(slopes.data(), slopes.size()));
  const auto w = static_cast<int>(background.extent(1));
  for_all(
      exec, "tessera::solvers::update_background", background.size(), KOKKOS_LAMBDA(const int i) {
        const int y = i / w;
        const int x = i - y * w;
        const Real curvature = slopes(y, x, 1);
        const Real lacking =
            curvature > 0 ? slopes(y, x, 0) / curvature - pull * background(y, x) : 0;
        const Real value = background(y, x) + static_cast<Real>(length) * lacking;
        background(y, x) = value > 0 ? value : 0;
        slopes(y, x, 0) = 0;
        slopes(y, x, 1) = 0;
      });
}

class BackgroundFit final : public ParameterFit {
 public:
  BackgroundFit(const settings::RefinedBackground& settings, const FitSetup& setup)
      : settings_(settings), model_(setup.model) {}

  Fields fields() const override {
    const auto background = model_.parameters().background;
    if (background.size() == 0) return {};
    return {field(settings::RefinedBackground::stored.name, Lives::everywhere, background)};
  }

  bool start_epoch(const RefinedEpoch& epoch, physics::FittedParameters& fitted) override {
    pull_ = pull_at(epoch.counts_of_scan);
    return fitted.background = has_begun(settings_.from_epoch, epoch);
  }

  /// Each of its pixels is a mean over all patterns, and found at once.
  int n_steps() const override { return 2; }

  void update(const Device& exec, Sweep& sweep) override {
    update_background(exec, model_, share_of_counts(model_.fitted()) * settings_.step, pull_,
                      sweep);
  }

  void finish_epoch(const Device& exec, Sweep& sweep) override {
    const auto background = model_.parameters().background;
    sweep.replicate(exec, DeviceView<Real*>(background.data(), background.size()));
  }

 private:
  settings::RefinedBackground settings_;
  physics::ForwardModel& model_;
  Real pull_ = 0;
};

}  // namespace

template <>
std::unique_ptr<ParameterFit> make_fit(const settings::RefinedBackground& settings,
                                       const FitSetup& setup) {
  return std::make_unique<BackgroundFit>(settings, setup);
}

/// Unless the scan has given one.
template <>
void start_parameter(const settings::RefinedBackground& settings, const ParameterStart& start,
                     physics::Parameters& parameters) {
  if (settings.from_epoch < 0 || parameters.background.size() > 0) return;
  parameters.background =
      DeviceView<Real**>("tessera::physics::background", static_cast<std::size_t>(start.window.h),
                         static_cast<std::size_t>(start.window.w));
}

}  // namespace tessera::solvers

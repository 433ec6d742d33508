/// Modes and weights of orthogonal probe relaxation (physics/opr_modes.hpp).

#include "parameter_fit.hpp"
#include "physics/opr_modes.hpp"

namespace tessera::solvers {
namespace {

using device::Device;
using device::DeviceView;

void update_weights(const Device& exec, const physics::ForwardModel& model) {
  const auto slopes = model.slopes().at_position;
  const auto weight = model.parameters().opr_weight;
  for_all(
      exec, "tessera::solvers::update_opr_weights", slopes.extent(0),
      KOKKOS_LAMBDA(const int position) {
        for (int k = 0; k < static_cast<int>(weight.extent(1)); ++k)
          weight(position, k) +=
              static_cast<Real>(take_step(slopes, position, physics::ParameterSlopes::opr + k));
      });
}

class OprFit final : public ParameterFit {
 public:
  OprFit(const settings::RefinedOpr& settings, const FitSetup& setup)
      : settings_(settings), probe_(setup.unknowns.probe), model_(setup.model) {
    if (has_modes())
      modes_ = std::make_unique<physics::OprModes>(model_.options(), model_.scan().window);
  }

  Fields fields() const override {
    if (!has_modes()) return {};
    return {field("opr_weight", Lives::position, model_.parameters().opr_weight)};
  }

  bool start_epoch(const RefinedEpoch& epoch, physics::FittedParameters& fitted) override {
    return fitted.opr = has_modes() && has_begun(settings_.from_epoch, epoch);
  }

  void update(const Device& exec, Sweep&) override { update_weights(exec, model_); }

  void finish_epoch(const Device& exec, Sweep& sweep) override {
    modes_->settle(exec, probe_, model_.parameters().opr_weight,
                   [&](const DeviceView<double*>& sums) { sweep.all_reduce(exec, sums); });
  }

 private:
  bool has_modes() const { return model_.options().n_opr_modes > 0; }

  settings::RefinedOpr settings_;
  physics::ProbeView probe_;
  physics::ForwardModel& model_;
  std::unique_ptr<physics::OprModes> modes_;
};

}  // namespace

template <>
std::unique_ptr<ParameterFit> make_fit(const settings::RefinedOpr& settings,
                                       const FitSetup& setup) {
  return std::make_unique<OprFit>(settings, setup);
}

template <>
void start_parameter(const settings::RefinedOpr&, const ParameterStart& start,
                     physics::Parameters& parameters) {
  if (!start.model.own_probes) return;
  parameters.opr_weight = DeviceView<Real**>("tessera::physics::opr_weight", start.n_positions,
                                             static_cast<std::size_t>(start.model.n_opr_modes));
}

}  // namespace tessera::solvers

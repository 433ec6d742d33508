#pragma once
/// What object and probe must obey between epochs: the list of all constraints, in the order in
/// which they act. Each is a struct with its onset, its defaults and its keys; what it does stands
/// in src/solvers/constraints/, formulas and sources in docs/methods/constraints.md.

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "settings/object_constraints.hpp"
#include "settings/probe_constraints.hpp"

namespace tessera::settings {

struct Constraints {
  ProbeCentring probe_centring = {};
  PhaseRamp phase_ramp = {};
  ProbeAperture probe_aperture = {};
  ProbeSupport probe_support = {};
  ProbeModePower probe_mode_power = {};
  ProbePower probe_power = {};
  LowPass low_pass = {};
  Smoothness smoothness = {};
  TotalVariation total_variation = {};
  SliceCoupling slice_coupling = {};
  ObjectBounds object_bounds = {};

  /// Hands each to visit(...), in the order in which they act.
  template <class Self, class Visit>
  static void for_each(Self& self, const Visit& visit) {
    visit(self.probe_centring);
    visit(self.phase_ramp);
    visit(self.probe_aperture);
    visit(self.probe_support);
    visit(self.probe_mode_power);
    visit(self.probe_power);
    visit(self.low_pass);
    visit(self.smoothness);
    visit(self.total_variation);
    visit(self.slice_coupling);
    visit(self.object_bounds);
  }

  /// Whether one acts after `epoch` that does not leave patterns as they are.
  bool change_intensities(int epoch) const {
    return any_changing([epoch](const Onset& onset) { return onset.acts(epoch); });
  }
  /// The same of the first `n_epochs`.
  bool have_changed_intensities(std::size_t n_epochs) const {
    const auto n = static_cast<std::int64_t>(n_epochs);
    return any_changing([n](const Onset& onset) { return onset.ever() && onset.from_epoch < n; });
  }

  std::vector<Key> keys() {
    std::vector<Key> all;
    for_each(*this, [&](auto& constraint) {
      for (Key& key : constraint.keys()) all.push_back(std::move(key));
    });
    return all;
  }

  /// @throws InputError
  void check(const ConstrainedModel& model) const {
    for_each(*this, [&](const auto& constraint) {
      if constexpr (requires { constraint.check(model); }) constraint.check(model);
    });
    require(
        !phase_ramp.onset.ever() || !probe_aperture.onset.ever(),
        "constraints.phase_ramp_from_epoch tilts the probe, but "
        "constraints.probe_aperture_from_epoch keeps it about zero frequency; keep one of them");
  }

 private:
  /// Whether holds(onset) of one that has no `keeps_intensities`.
  template <class Holds>
  bool any_changing(const Holds& holds) const {
    bool any = false;
    for_each(*this, [&](const auto& constraint) {
      if constexpr (requires { constraint.onsets(); })
        any = any || std::ranges::any_of(constraint.onsets(), holds);
      else if constexpr (!requires { constraint.keeps_intensities; })
        any = any || holds(constraint.onset);
    });
    return any;
  }
};

}  // namespace tessera::settings

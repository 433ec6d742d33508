#pragma once
/// Constraints of the probe, and of what the data leave open between probe and object.

#include <optional>
#include <string>
#include <vector>

#include "tessera/base/text.hpp"

#include "settings/constrained_model.hpp"
#include "settings/onset.hpp"

namespace tessera::settings {

struct ProbeCentring {
  static constexpr bool keeps_intensities = true;
  Onset onset = {};

  std::vector<Key> keys() {
    return {onset.from_epoch_key("probe_centring",
                                 "probe and object move by a pixel until the probe's centre of "
                                 "mass is in the window's centre. Far field only")};
  }
  void check(const ConstrainedModel& model) const {
    const std::string& propagation = model.experiment.propagation;
    require(!onset.ever() || propagation == "far_field",
            text("constraints.probe_centring_from_epoch moves the wave on the sample, which only "
                 "far-field patterns do not see, but experiment.propagation = \"",
                 propagation, "\"; leave it out"));
  }
};

struct PhaseRamp {
  static constexpr bool keeps_intensities = true;
  Onset onset = {};

  std::vector<Key> keys() {
    return {onset.from_epoch_key("phase_ramp",
                                 "the object's mean phase gradient goes into the probe, which "
                                 "changes no pattern"),
            onset.every_key("phase_ramp")};
  }
};

inline void check_radius(const std::string& constraint, const Onset& onset, double radius_px) {
  require(!onset.ever() || radius_px > 0,
          text("constraints.", constraint, "_from_epoch = ", onset.from_epoch,
               " needs constraints.", constraint, "_radius_px above 0"));
}

struct ProbeAperture {
  Onset onset = {};
  double radius_px = 0;

  std::vector<Key> keys() {
    return {onset.from_epoch_key("probe_aperture",
                                 "the probe's far field is zero outside a disc about zero "
                                 "frequency"),
            {.name = "probe_aperture_radius_px",
             .field = &radius_px,
             .meaning = "Radius of that disc, detector pixels.",
             .min = 0,
             .max = 1e6}};
  }
  void check(const ConstrainedModel& /*model*/) const {
    check_radius("probe_aperture", onset, radius_px);
  }
};

struct ProbeSupport {
  Onset onset = {};
  double radius_px = 0;

  std::vector<Key> keys() {
    return {onset.from_epoch_key("probe_support",
                                 "the probe is zero outside a disc about the window's centre"),
            {.name = "probe_support_radius_px",
             .field = &radius_px,
             .meaning = "Radius of that disc, object pixels.",
             .min = 0,
             .max = 1e6}};
  }
  void check(const ConstrainedModel& /*model*/) const {
    check_radius("probe_support", onset, radius_px);
  }
};

struct ProbeModePower {
  Onset onset = {};
  double min_fraction = 0.001;

  std::vector<Key> keys() {
    return {onset.from_epoch_key("probe_mode_power",
                                 "probe modes weaker than probe_least_mode_power are scaled up to "
                                 "it"),
            {.name = "probe_least_mode_power",
             .field = &min_fraction,
             .meaning = "Least power of a mode, as a fraction of all modes' power.",
             .min = 0,
             .max = 1}};
  }
  void check(const ConstrainedModel& model) const {
    require(!onset.ever() || min_fraction * model.probe.n_modes <= 1,
            text("constraints.probe_least_mode_power = ", number_text(min_fraction),
                 " is more than each of probe.n_modes = ", model.probe.n_modes,
                 " modes can have; at most 1 / probe.n_modes"));
  }
};

struct ProbePower {
  static constexpr bool keeps_intensities = true;
  std::optional<int> from_epoch = {};  ///< a deck that was read says it
  bool is_of_recipe = false;           ///< chosen by `auto`, not by the deck
  double counts = 0;

  Onset onset() const { return {.from_epoch = from_epoch.value_or(-1)}; }
  std::vector<Key> keys() {
    return {
        {.name = "probe_power_from_epoch",
         .field = &from_epoch,
         .meaning =
             "First epoch, from 0, after which the probe is scaled to probe_power_counts and "
             "the object inversely, which changes no pattern; -1: never. `auto`: with "
             "`solver.method = \"auto\"` alone the last of its first part, unless a start of "
             "object or probe sets a scale of its own (`stxm`, `file`); else never.",
         .min = -1,
         .max = 1000000,
         .none = "auto"},
        {.name = "probe_power_counts",
         .field = &counts,
         .meaning = "Counts of the incident beam per pattern; 0: as many as bring the patterns' "
                    "mean, less the background's, to the trusted pixels.",
         .min = 0,
         .max = 1e30}};
  }
};

}  // namespace tessera::settings

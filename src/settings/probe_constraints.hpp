#pragma once
/// Constraints of the probe, and of what the data leave open between probe and object.

#include <string>
#include <vector>

#include "tessera/base/text.hpp"

#include "settings/constrained_model.hpp"
#include "settings/onset.hpp"

namespace tessera::settings {

struct ProbeCentring {
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
  Onset onset = {};
  double counts = 0;

  std::vector<Key> keys() {
    return {onset.from_epoch_key("probe_power",
                                 "the probe is scaled to probe_power_counts and the object "
                                 "inversely, which changes no pattern"),
            {.name = "probe_power_counts",
             .field = &counts,
             .meaning = "Counts of the incident beam per pattern; 0: the mean of the patterns.",
             .min = 0,
             .max = 1e30}};
  }
};

}  // namespace tessera::settings

#include "tessera/base/text.hpp"

#include "sections.hpp"

namespace tessera::deck {
namespace {

/// When a constraint acts.
Key from_epoch(const std::string& name, Field field, const std::string& what) {
  return first_epoch(text("constraints.", name, "_from_epoch"), field, "after which " + what);
}

Key every(const std::string& name, Field field) {
  return {.name = text("constraints.", name, "_every"),
          .field = field,
          .meaning = "Epochs from one time to the next.",
          .least = 1,
          .greatest = 1000000};
}

std::vector<Key> object_keys(Constraints& c) {
  return {
      from_epoch("object_amplitude", &c.object_amplitude_from_epoch,
                 "the object's amplitude is kept in object_amplitude"),
      {.name = "constraints.object_amplitude",
       .field = &c.object_amplitude,
       .meaning = "Least and greatest amplitude. Vacuum is 1 only if probe_power_counts, or the "
                  "start, says so.",
       .least = 0,
       .greatest = 1000,
       .length = 2},
      from_epoch("object_phase", &c.object_phase_from_epoch,
                 "the object's phase is kept in object_phase_rad"),
      {.name = "constraints.object_phase_rad",
       .field = &c.object_phase_rad,
       .meaning = "Least and greatest phase, radians, before it wraps; a pixel outside takes the "
                  "nearer one and keeps its amplitude.",
       .least = -3.15,
       .greatest = 3.15,
       .length = 2,
       .hint = "angles are in radians: did you give degrees?"},
      from_epoch("object_positive_phase", &c.object_positive_phase_from_epoch,
                 "the object's phase is kept at 0 or above, as electrons see atoms"),
      from_epoch("object_support", &c.object_support_from_epoch,
                 "pixels outside the support become vacuum, 1"),
      {.name = "constraints.object_support_radius_px",
       .field = &c.object_support_radius_px,
       .meaning = "Radius of the support about the object's centre, object pixels; 0: the pixels "
                  "in the central half of any window.",
       .least = 0,
       .greatest = 1e6},
      from_epoch("object_l1", &c.object_l1_from_epoch,
                 "the object's difference from 1 shrinks by object_l1. For sparse samples"),
      {.name = "constraints.object_l1",
       .field = &c.object_l1,
       .meaning = "What is taken off the difference's length at every pixel; less than this "
                  "becomes vacuum.",
       .least = 1e-9,
       .greatest = 10},
  };
}

std::vector<Key> stencil_keys(Constraints& c) {
  return {
      from_epoch("object_smoothness", &c.object_smoothness_from_epoch,
                 "the object takes a step down its squared gradient (Tikhonov)"),
      {.name = "constraints.object_smoothness",
       .field = &c.object_smoothness,
       .meaning = "Length of the step. The finest pattern loses 8 times this fraction, a period of "
                  "p pixels about 40 / p^2 times.",
       .least = 1e-9,
       .greatest = 0.125},
      from_epoch("object_low_pass", &c.object_low_pass_from_epoch,
                 "the object is convolved with a Gaussian"),
      {.name = "constraints.object_low_pass_sigma_px",
       .field = &c.object_low_pass_sigma_px,
       .meaning = "Standard deviation of the Gaussian, object pixels.",
       .least = 0.01,
       .greatest = 5},
      every("object_low_pass", &c.object_low_pass_every),
      from_epoch("object_tv", &c.object_tv_from_epoch,
                 "the object's total variation is lowered. For noisy data and samples with flat "
                 "parts"),
      {.name = "constraints.object_tv",
       .field = &c.object_tv,
       .meaning = "Weight of the total variation against half the squared change: a flat disc of "
                  "radius r pixels loses 2 / r times this.",
       .least = 1e-9,
       .greatest = 10},
      every("object_tv", &c.object_tv_every),
      from_epoch("slice_coupling", &c.slice_coupling_from_epoch,
                 "the object is convolved with a Gaussian along z"),
      {.name = "constraints.slice_coupling_sigma",
       .field = &c.slice_coupling_sigma,
       .meaning = "Standard deviation of that Gaussian, slices.",
       .least = 0.01,
       .greatest = 100},
  };
}

std::vector<Key> probe_keys(Constraints& c) {
  return {
      from_epoch("phase_ramp", &c.phase_ramp_from_epoch,
                 "the object's mean phase gradient goes into the probe, which changes no pattern"),
      every("phase_ramp", &c.phase_ramp_every),
      from_epoch("probe_centring", &c.probe_centring_from_epoch,
                 "probe and object move by a pixel until the probe's centre of mass is in the "
                 "window's centre. Far field only"),
      from_epoch("probe_power", &c.probe_power_from_epoch,
                 "the probe is scaled to probe_power_counts and the object inversely, which "
                 "changes no pattern"),
      {.name = "constraints.probe_power_counts",
       .field = &c.probe_power_counts,
       .meaning = "Counts of the incident beam per pattern; 0: the mean of the patterns.",
       .least = 0,
       .greatest = 1e30},
      from_epoch("probe_aperture", &c.probe_aperture_from_epoch,
                 "the probe's far field is zero outside a disc about zero frequency"),
      {.name = "constraints.probe_aperture_radius_px",
       .field = &c.probe_aperture_radius_px,
       .meaning = "Radius of that disc, detector pixels.",
       .least = 0,
       .greatest = 1e6},
      from_epoch("probe_support", &c.probe_support_from_epoch,
                 "the probe is zero outside a disc about the window's centre"),
      {.name = "constraints.probe_support_radius_px",
       .field = &c.probe_support_radius_px,
       .meaning = "Radius of that disc, object pixels.",
       .least = 0,
       .greatest = 1e6},
      from_epoch("probe_mode_power", &c.probe_mode_power_from_epoch,
                 "probe modes weaker than probe_least_mode_power are scaled up to it"),
      {.name = "constraints.probe_least_mode_power",
       .field = &c.probe_least_mode_power,
       .meaning = "Least power of a mode, as a fraction of all modes' power.",
       .least = 0,
       .greatest = 1},
  };
}

}  // namespace

std::vector<Key> constraint_keys(Constraints& constraints) {
  std::vector<Key> keys = object_keys(constraints);
  for (const std::vector<Key>& more : {stencil_keys(constraints), probe_keys(constraints)})
    keys.insert(keys.end(), more.begin(), more.end());
  return keys;
}

}  // namespace tessera::deck

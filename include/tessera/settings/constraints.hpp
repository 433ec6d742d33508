#pragma once
/// What object and probe must obey between epochs.

#include <string>
#include <vector>

#include "tessera/base/text.hpp"
#include "tessera/settings/key.hpp"

namespace tessera::settings {

/// When a constraint acts.
inline Key acts_from(const std::string& name, Field field, const std::string& what) {
  return first_epoch(name + "_from_epoch", field, "after which " + what);
}

inline Key acts_every(const std::string& name, Field field) {
  return {.name = name + "_every",
          .field = field,
          .meaning = "Epochs from one time to the next.",
          .least = 1,
          .greatest = 1000000};
}

/// `..._from_epoch`: -1 never.
struct Constraints {
  int object_amplitude_from_epoch = -1;
  std::vector<double> object_amplitude = {0, 1};
  int object_phase_from_epoch = -1;
  std::vector<double> object_phase_rad = {-3.15, 3.15};
  int object_positive_phase_from_epoch = -1;
  int object_support_from_epoch = -1;
  double object_support_radius_px = 0;
  int object_l1_from_epoch = -1;
  double object_l1 = 0.01;
  int object_smoothness_from_epoch = -1;
  double object_smoothness = 0.02;
  int object_low_pass_from_epoch = -1;
  double object_low_pass_sigma_px = 0.5;
  int object_low_pass_every = 1;
  int object_tv_from_epoch = -1;
  double object_tv = 0.01;
  int object_tv_every = 1;
  int slice_coupling_from_epoch = -1;
  double slice_coupling_sigma = 0.5;
  int phase_ramp_from_epoch = -1;
  int phase_ramp_every = 1;
  int probe_centring_from_epoch = -1;
  int probe_power_from_epoch = -1;
  double probe_power_counts = 0;
  int probe_aperture_from_epoch = -1;
  double probe_aperture_radius_px = 0;
  int probe_support_from_epoch = -1;
  double probe_support_radius_px = 0;
  int probe_mode_power_from_epoch = -1;
  double probe_least_mode_power = 0.001;

  std::vector<Key> keys() {
    return {
        acts_from("object_amplitude", &object_amplitude_from_epoch,
                  "the object's amplitude is kept in object_amplitude"),
        {.name = "object_amplitude",
         .field = &object_amplitude,
         .meaning = "Least and greatest amplitude. Vacuum is 1 only if probe_power_counts, or the "
                    "start, says so.",
         .least = 0,
         .greatest = 1000,
         .length = 2},
        acts_from("object_phase", &object_phase_from_epoch,
                  "the object's phase is kept in object_phase_rad"),
        {.name = "object_phase_rad",
         .field = &object_phase_rad,
         .meaning = "Least and greatest phase, radians, before it wraps; a pixel outside takes the "
                    "nearer one and keeps its amplitude.",
         .least = -3.15,
         .greatest = 3.15,
         .length = 2,
         .hint = "angles are in radians: did you give degrees?"},
        acts_from("object_positive_phase", &object_positive_phase_from_epoch,
                  "the object's phase is kept at 0 or above, as electrons see atoms"),
        acts_from("object_support", &object_support_from_epoch,
                  "pixels outside the support become vacuum, 1"),
        {.name = "object_support_radius_px",
         .field = &object_support_radius_px,
         .meaning = "Radius of the support about the object's centre, object pixels; 0: the pixels "
                    "in the central half of any window.",
         .least = 0,
         .greatest = 1e6},
        acts_from("object_l1", &object_l1_from_epoch,
                  "the object's difference from 1 shrinks by object_l1. For sparse samples"),
        {.name = "object_l1",
         .field = &object_l1,
         .meaning = "What is taken off the difference's length at every pixel; less than this "
                    "becomes vacuum.",
         .least = 1e-9,
         .greatest = 10},
        acts_from("object_smoothness", &object_smoothness_from_epoch,
                  "the object takes a step down its squared gradient (Tikhonov)"),
        {.name = "object_smoothness",
         .field = &object_smoothness,
         .meaning =
             "Length of the step. The finest pattern loses 8 times this fraction, a period of "
             "p pixels about 40 / p^2 times.",
         .least = 1e-9,
         .greatest = 0.125},
        acts_from("object_low_pass", &object_low_pass_from_epoch,
                  "the object is convolved with a Gaussian"),
        {.name = "object_low_pass_sigma_px",
         .field = &object_low_pass_sigma_px,
         .meaning = "Standard deviation of the Gaussian, object pixels.",
         .least = 0.01,
         .greatest = 5},
        acts_every("object_low_pass", &object_low_pass_every),
        acts_from("object_tv", &object_tv_from_epoch,
                  "the object's total variation is lowered. For noisy data and samples with flat "
                  "parts"),
        {.name = "object_tv",
         .field = &object_tv,
         .meaning = "Weight of the total variation against half the squared change: a flat disc of "
                    "radius r pixels loses 2 / r times this.",
         .least = 1e-9,
         .greatest = 10},
        acts_every("object_tv", &object_tv_every),
        acts_from("slice_coupling", &slice_coupling_from_epoch,
                  "the object is convolved with a Gaussian along z"),
        {.name = "slice_coupling_sigma",
         .field = &slice_coupling_sigma,
         .meaning = "Standard deviation of that Gaussian, slices.",
         .least = 0.01,
         .greatest = 100},
        acts_from("phase_ramp", &phase_ramp_from_epoch,
                  "the object's mean phase gradient goes into the probe, which changes no pattern"),
        acts_every("phase_ramp", &phase_ramp_every),
        acts_from("probe_centring", &probe_centring_from_epoch,
                  "probe and object move by a pixel until the probe's centre of mass is in the "
                  "window's centre. Far field only"),
        acts_from("probe_power", &probe_power_from_epoch,
                  "the probe is scaled to probe_power_counts and the object inversely, which "
                  "changes no pattern"),
        {.name = "probe_power_counts",
         .field = &probe_power_counts,
         .meaning = "Counts of the incident beam per pattern; 0: the mean of the patterns.",
         .least = 0,
         .greatest = 1e30},
        acts_from("probe_aperture", &probe_aperture_from_epoch,
                  "the probe's far field is zero outside a disc about zero frequency"),
        {.name = "probe_aperture_radius_px",
         .field = &probe_aperture_radius_px,
         .meaning = "Radius of that disc, detector pixels.",
         .least = 0,
         .greatest = 1e6},
        acts_from("probe_support", &probe_support_from_epoch,
                  "the probe is zero outside a disc about the window's centre"),
        {.name = "probe_support_radius_px",
         .field = &probe_support_radius_px,
         .meaning = "Radius of that disc, object pixels.",
         .least = 0,
         .greatest = 1e6},
        acts_from("probe_mode_power", &probe_mode_power_from_epoch,
                  "probe modes weaker than probe_least_mode_power are scaled up to it"),
        {.name = "probe_least_mode_power",
         .field = &probe_least_mode_power,
         .meaning = "Least power of a mode, as a fraction of all modes' power.",
         .least = 0,
         .greatest = 1},
    };
  }

  /// @throws InputError
  void check() const {
    check_interval("object_amplitude", object_amplitude);
    check_interval("object_phase_rad", object_phase_rad);
    require(
        object_phase_from_epoch < 0 || object_positive_phase_from_epoch < 0 ||
            object_phase_rad[1] >= 0,
        text("constraints.object_phase_rad ends at ", number_text(object_phase_rad[1]),
             ", but constraints.object_positive_phase_from_epoch keeps the phase at 0 or above; "
             "keep one of them"));
    check_radius(probe_aperture_from_epoch, "probe_aperture", probe_aperture_radius_px);
    check_radius(probe_support_from_epoch, "probe_support", probe_support_radius_px);
    require(
        phase_ramp_from_epoch < 0 || probe_aperture_from_epoch < 0,
        "constraints.phase_ramp_from_epoch tilts the probe, but "
        "constraints.probe_aperture_from_epoch keeps it about zero frequency; keep one of them");
  }

 private:
  static void check_interval(const std::string& key, const std::vector<double>& interval) {
    require(interval.size() == 2 && interval[0] <= interval[1],
            text("constraints.", key, " must be the least and the greatest value, such as [0, 1]"));
  }
  static void check_radius(int from_epoch, const std::string& constraint, double radius_px) {
    require(from_epoch < 0 || radius_px > 0,
            text("constraints.", constraint, "_from_epoch = ", from_epoch, " needs constraints.",
                 constraint, "_radius_px above 0"));
  }
};

}  // namespace tessera::settings

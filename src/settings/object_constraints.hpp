#pragma once
/// Constraints of the object.

#include <array>
#include <string>
#include <vector>

#include "tessera/base/text.hpp"

#include "settings/constrained_model.hpp"
#include "settings/onset.hpp"

namespace tessera::settings {

struct LowPass {
  Onset onset = {};
  double sigma_px = 0.5;

  std::vector<Key> keys() {
    return {onset.from_epoch_key("object_low_pass", "the object is convolved with a Gaussian"),
            {.name = "object_low_pass_sigma_px",
             .field = &sigma_px,
             .meaning = "Standard deviation of the Gaussian, object pixels.",
             .min = 0.01,
             .max = 5},
            onset.every_key("object_low_pass")};
  }
};

struct Smoothness {
  Onset onset = {};
  double step = 0.02;

  std::vector<Key> keys() {
    return {onset.from_epoch_key("object_smoothness",
                                 "the object takes a step down its squared gradient (Tikhonov)"),
            {.name = "object_smoothness",
             .field = &step,
             .meaning = "Length of the step. The finest pattern loses 8 times this fraction, a "
                        "period of p pixels about 40 / p^2 times.",
             .min = 1e-9,
             .max = 0.125}};
  }
};

struct TotalVariation {
  Onset onset = {};
  double weight = 0.01;

  std::vector<Key> keys() {
    return {onset.from_epoch_key("object_tv",
                                 "the object's total variation is lowered. For noisy data and "
                                 "samples with flat parts"),
            {.name = "object_tv",
             .field = &weight,
             .meaning = "Weight of the total variation against half the squared change: a flat "
                        "disc of radius r pixels loses 2 / r times this.",
             .min = 1e-9,
             .max = 10},
            onset.every_key("object_tv")};
  }
};

struct SliceCoupling {
  Onset onset = {};
  double sigma = 0.5;    ///< slices
  double coarse_px = 0;  ///< in the plane; 0: everything

  std::vector<Key> keys() {
    return {
        onset.from_epoch_key("slice_coupling", "the object is convolved with a Gaussian along z"),
        {.name = "slice_coupling_sigma",
         .field = &sigma,
         .meaning = "Standard deviation of that Gaussian, slices.",
         .min = 0.01,
         .max = 100},
        {.name = "slice_coupling_coarse_px",
         .field = &coarse_px,
         .meaning = "Standard deviation, object pixels, of a Gaussian in the plane: only what "
                    "passes it is coupled, and finer detail, which the data place in depth, stays. "
                    "0: all is coupled.",
         .min = 0,
         .max = 20}};
  }
  void check(const ConstrainedModel& model) const {
    require(!onset.ever() || model.object.n_slices > 1,
            text("constraints.slice_coupling_from_epoch = ", onset.from_epoch,
                 " couples slices, but object.n_slices = 1; leave it out"));
  }
};

inline void check_interval(const std::string& key, const std::vector<double>& interval) {
  require(interval.size() == 2 && interval[0] <= interval[1],
          text("constraints.", key, " must be the least and the greatest value, such as [0, 1]"));
}

/// What holds for every pixel by itself, together: one pass over the object.
struct ObjectBounds {
  Onset l1 = {};
  double l1_threshold = 0.01;
  Onset phase = {};
  std::vector<double> phase_rad = {-3.15, 3.15};
  Onset positive_phase = {};
  Onset amplitude = {};
  std::vector<double> amplitude_range = {0, 1};
  Onset support = {};
  double support_radius_px = 0;

  std::array<Onset, 5> onsets() const { return {l1, phase, positive_phase, amplitude, support}; }
  std::vector<Key> keys() {
    return {
        l1.from_epoch_key("object_l1",
                          "the object's difference from 1 shrinks by object_l1. For sparse "
                          "samples"),
        {.name = "object_l1",
         .field = &l1_threshold,
         .meaning = "What is taken off the difference's length at every pixel; less than this "
                    "becomes vacuum.",
         .min = 1e-9,
         .max = 10},
        phase.from_epoch_key("object_phase", "the object's phase is kept in object_phase_rad"),
        {.name = "object_phase_rad",
         .field = &phase_rad,
         .meaning = "Least and greatest phase, radians, before it wraps; a pixel outside takes "
                    "the nearer one and keeps its amplitude.",
         .min = -3.15,
         .max = 3.15,
         .length = 2,
         .hint = "angles are in radians: did you give degrees?"},
        positive_phase.from_epoch_key("object_positive_phase",
                                      "the object's phase is kept at 0 or above, as electrons see "
                                      "atoms"),
        amplitude.from_epoch_key("object_amplitude",
                                 "the object's amplitude is kept in object_amplitude"),
        {.name = "object_amplitude",
         .field = &amplitude_range,
         .meaning = "Least and greatest amplitude. Vacuum is 1 only if probe_power_counts, or "
                    "the start, says so.",
         .min = 0,
         .max = 1000,
         .length = 2},
        support.from_epoch_key("object_support", "pixels outside the support become vacuum, 1"),
        {.name = "object_support_radius_px",
         .field = &support_radius_px,
         .meaning = "Radius of the support about the object's centre, object pixels; 0: the "
                    "pixels in the central half of any window.",
         .min = 0,
         .max = 1e6},
    };
  }
  void check(const ConstrainedModel& /*model*/) const {
    check_interval("object_amplitude", amplitude_range);
    check_interval("object_phase_rad", phase_rad);
    require(!phase.ever() || !positive_phase.ever() || phase_rad[1] >= 0,
            text("constraints.object_phase_rad ends at ", number_text(phase_rad[1]),
                 ", but constraints.object_positive_phase_from_epoch keeps the phase at 0 or "
                 "above; keep one of them"));
  }
};

}  // namespace tessera::settings

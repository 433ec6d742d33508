#pragma once
/// The beam, the detector and what lies between them.

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/text.hpp"

#include "settings/key.hpp"

namespace tessera::settings {

struct Experiment {
  std::optional<double> energy_eV;
  std::optional<double> voltage_V;
  std::optional<double> distance_m;
  std::optional<double> detector_pixel_m;
  std::optional<double> detector_pixel_rad;
  std::string propagation = "far_field";
  std::optional<double> source_distance_m;
  std::vector<double> beam_tilt_rad;
  int fly_sub_positions = 1;
  std::vector<double> fly_travel_m;
  double point_spread_px = 0;

  std::vector<Key> keys() {
    return {
        {.name = "energy_eV",
         .field = &energy_eV,
         .meaning =
             "Photon energy, eV: X-ray data. Exactly one of `energy_eV` and `voltage_V` sets "
             "the wavelength.",
         .min = 50,
         .max = 1e6,
         .hint = "energies are in eV: did you give keV?"},
        {.name = "voltage_V",
         .field = &voltage_V,
         .meaning = "Accelerating voltage, V: electron data, with the relativistic wavelength.",
         .min = 1000,
         .max = 1e7,
         .hint = "voltages are in V: did you give kV?"},
        {.name = "distance_m",
         .field = &distance_m,
         .meaning =
             "Sample to detector, metres. With `detector_pixel_m` it sets the object pixel, so "
             "an error here shows as positions that seem stretched.",
         .min = 1e-4,
         .max = 100,
         .hint = "distances are in metres: did you give millimetres?"},
        {.name = "detector_pixel_m",
         .field = &detector_pixel_m,
         .meaning =
             "Pixel of the file's patterns, metres (75e-6 for an Eiger); `data.bin` enlarges it.",
         .min = 1e-7,
         .max = 0.01,
         .hint = "pixels are in metres: did you give micrometres or millimetres?"},
        {.name = "detector_pixel_rad",
         .field = &detector_pixel_rad,
         .meaning =
             "Angle that one pixel of the file's patterns covers, radians: how electron data are "
             "usually calibrated. Replaces `distance_m` and `detector_pixel_m`.",
         .min = 1e-8,
         .max = 0.1,
         .hint = "angles are in radians: did you give milliradians?"},
        {.name = "propagation",
         .field = &propagation,
         .meaning =
             "From the sample to the detector: `far_field` (a Fourier transform), or the near "
             "field by the `fresnel` or the `angular_spectrum` propagator; then the "
             "detector's own pixels, divided by the magnification, are the object's.",
         .choices = {"far_field", "fresnel", "angular_spectrum"}},
        {.name = "source_distance_m",
         .field = &source_distance_m,
         .meaning = "Near field in a cone beam: from the focus to the sample, metres. The "
                    "magnification is 1 + distance_m / source_distance_m. Unset: parallel beam.",
         .min = 1e-6,
         .max = 1000,
         .hint = "distances are in metres: did you give millimetres?"},
        {.name = "beam_tilt_rad",
         .field = &beam_tilt_rad,
         .meaning =
             "Angle of the beam to the sample's normal, radians, (y, x): shifts the slices of "
             "a thick sample against one another. Empty: none.",
         .min = -0.5,
         .max = 0.5,
         .length = 2,
         .hint = "angles are in radians: did you give milliradians?"},
        {.name = "fly_sub_positions",
         .field = &fly_sub_positions,
         .meaning =
             "Fly scan: places along the motion during an exposure whose patterns add up. Time "
             "and memory grow in proportion; 1: the stage stood still.",
         .min = 1,
         .max = 64},
        {.name = "fly_travel_m",
         .field = &fly_travel_m,
         .meaning =
             "Fly scan: the stage's motion during one exposure, metres, (y, x), centred on the "
             "scan position.",
         .min = -0.01,
         .max = 0.01,
         .length = 2,
         .hint = "lengths are in metres: did you give micrometres?"},
        {.name = "point_spread_px",
         .field = &point_spread_px,
         .meaning = "Standard deviation of the detector's Gaussian point spread, or of the beam's "
                    "partial coherence seen as one, detector pixels; 0: none.",
         .min = 0,
         .max = 100},
    };
  }

  /// @throws InputError
  void check() const {
    check_wavelength();
    check_detector();
    check_near_field();
    check_fly();
  }

 private:
  void check_wavelength() const {
    require(energy_eV || voltage_V,
            "the wavelength is not known: give experiment.energy_eV (X-rays) or "
            "experiment.voltage_V (electrons)");
    if (!energy_eV || !voltage_V) return;
    require(false, text("experiment.energy_eV = ", number_text(*energy_eV),
                        " and experiment.voltage_V = ", number_text(*voltage_V),
                        " exclude each other: keep energy_eV for X-rays, voltage_V for electrons"));
  }
  void check_detector() const {
    if (!detector_pixel_rad) {
      const std::string angle = voltage_V ? ", or experiment.detector_pixel_rad" : "";
      require(
          distance_m.has_value(),
          "experiment.distance_m is missing: the distance from sample to detector, metres" + angle);
      require(detector_pixel_m.has_value(),
              "experiment.detector_pixel_m is missing: the detector pixel, metres" + angle);
      return;
    }
    const std::string given =
        text("experiment.detector_pixel_rad = ", number_text(*detector_pixel_rad));
    require(voltage_V.has_value(),
            given + " is for electrons; for X-rays give distance_m and detector_pixel_m");
    require(!distance_m && !detector_pixel_m,
            given +
                " replaces experiment.distance_m and experiment.detector_pixel_m: give one or "
                "the other");
  }
  void check_near_field() const {
    const std::string chosen = text("experiment.propagation = \"", propagation, '"');
    if (propagation == "far_field") {
      require(!source_distance_m,
              text("experiment.source_distance_m is for the near field, but ", chosen,
                   R"(; leave it out, or choose "fresnel" or "angular_spectrum")"));
      return;
    }
    require(distance_m && detector_pixel_m,
            chosen +
                " needs experiment.distance_m and experiment.detector_pixel_m, metres, not "
                "experiment.detector_pixel_rad: give distance_m and detector_pixel_m");
  }
  void check_fly() const {
    const bool travels = std::ranges::any_of(fly_travel_m, [](double way) { return way != 0; });
    require(travels == (fly_sub_positions > 1),
            text("experiment.fly_sub_positions = ", fly_sub_positions, " with ",
                 travels ? "some" : "no",
                 " experiment.fly_travel_m: a fly scan needs more than 1 sub-position and its "
                 "travel, (y, x), metres; a stage that stands still needs neither"));
  }
};

}  // namespace tessera::settings

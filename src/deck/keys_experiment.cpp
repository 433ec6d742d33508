#include "sections.hpp"

namespace tessera::deck {

std::vector<Key> experiment_keys(Experiment& experiment) {
  return {
      {.name = "experiment.energy_eV",
       .field = &experiment.energy_eV,
       .meaning = "Photon energy, eV: X-ray data. Exactly one of `energy_eV` and `voltage_V` sets "
                  "the wavelength.",
       .least = 50,
       .greatest = 1e6,
       .hint = "energies are in eV: did you give keV?"},
      {.name = "experiment.voltage_V",
       .field = &experiment.voltage_V,
       .meaning = "Accelerating voltage, V: electron data, with the relativistic wavelength.",
       .least = 1000,
       .greatest = 1e7,
       .hint = "voltages are in V: did you give kV?"},
      {.name = "experiment.distance_m",
       .field = &experiment.distance_m,
       .meaning =
           "Sample to detector, metres. With `detector_pixel_m` it sets the object pixel, so "
           "an error here shows as positions that seem stretched.",
       .least = 1e-4,
       .greatest = 100,
       .hint = "distances are in metres: did you give millimetres?"},
      {.name = "experiment.detector_pixel_m",
       .field = &experiment.detector_pixel_m,
       .meaning =
           "Pixel of the file's patterns, metres (75e-6 for an Eiger); `data.bin` enlarges it.",
       .least = 1e-7,
       .greatest = 0.01,
       .hint = "pixels are in metres: did you give micrometres or millimetres?"},
      {.name = "experiment.detector_pixel_rad",
       .field = &experiment.detector_pixel_rad,
       .meaning =
           "Angle that one pixel of the file's patterns covers, radians: how electron data are "
           "usually calibrated. Replaces `distance_m` and `detector_pixel_m`.",
       .least = 1e-8,
       .greatest = 0.1,
       .hint = "angles are in radians: did you give milliradians?"},
      {.name = "experiment.propagation",
       .field = &experiment.propagation,
       .meaning = "From the sample to the detector: `far_field` (a Fourier transform), or the near "
                  "field by the `fresnel` or the `angular_spectrum` propagator; then the "
                  "detector's own pixels, divided by the magnification, are the object's.",
       .choices = {"far_field", "fresnel", "angular_spectrum"}},
      {.name = "experiment.source_distance_m",
       .field = &experiment.source_distance_m,
       .meaning = "Near field in a cone beam: from the focus to the sample, metres. The "
                  "magnification is 1 + distance_m / source_distance_m. Unset: parallel beam.",
       .least = 1e-6,
       .greatest = 1000,
       .hint = "distances are in metres: did you give millimetres?"},
      {.name = "experiment.beam_tilt_rad",
       .field = &experiment.beam_tilt_rad,
       .meaning = "Angle of the beam to the sample's normal, radians, (y, x): shifts the slices of "
                  "a thick sample against one another. Empty: none.",
       .least = -0.5,
       .greatest = 0.5,
       .length = 2,
       .hint = "angles are in radians: did you give milliradians?"},
      {.name = "experiment.fly_sub_positions",
       .field = &experiment.fly_sub_positions,
       .meaning =
           "Fly scan: places along the motion during an exposure whose patterns add up. Time "
           "and memory grow in proportion; 1: the stage stood still.",
       .least = 1,
       .greatest = 64},
      {.name = "experiment.fly_travel_m",
       .field = &experiment.fly_travel_m,
       .meaning =
           "Fly scan: the stage's motion during one exposure, metres, (y, x), centred on the "
           "scan position.",
       .least = -0.01,
       .greatest = 0.01,
       .length = 2,
       .hint = "lengths are in metres: did you give micrometres?"},
      {.name = "experiment.point_spread_px",
       .field = &experiment.point_spread_px,
       .meaning = "Standard deviation of the detector's Gaussian point spread, or of the beam's "
                  "partial coherence seen as one, detector pixels; 0: none.",
       .least = 0,
       .greatest = 100},
  };
}

std::vector<Key> object_keys(Object& object) {
  return {
      {.name = "object.initial",
       .field = &object.initial,
       .meaning = "First guess of the object: `ones` (nothing in the beam); `random_phase`; a "
                  "phase whose gradient is the patterns' `centre_of_mass`; an absorption from "
                  "their counts, `stxm`; or a `file`, the result of an earlier run.",
       .choices = {"ones", "random_phase", "centre_of_mass", "stxm", "file"}},
      {.name = "object.file",
       .field = &object.file,
       .meaning = "Result of an earlier run; for `file`.",
       .is_path = true},
      {.name = "object.random_phase_rad",
       .field = &object.random_phase_rad,
       .meaning = "Greatest phase of each pixel, radians, drawn from `solver.seed`; for "
                  "`random_phase`.",
       .least = 0,
       .greatest = 3.15,
       .hint = "angles are in radians: did you give degrees?"},
      {.name = "object.n_modes",
       .field = &object.n_modes,
       .meaning = "Mutually incoherent states of the object, for samples that move or fluctuate "
                  "during an exposure.",
       .least = 1,
       .greatest = 16},
      {.name = "object.n_slices",
       .field = &object.n_slices,
       .meaning = "Slices of a thick sample (multislice; Maiden, Humphry & Rodenburg 2012), along "
                  "the beam. Time grows in proportion.",
       .least = 1,
       .greatest = 1000},
      {.name = "object.slice_thickness_m",
       .field = &object.slice_thickness_m,
       .meaning = "Distance between slices, metres; needed with more than one.",
       .least = 0,
       .greatest = 0.1,
       .hint = "lengths are in metres: did you give nanometres or micrometres?"},
  };
}

}  // namespace tessera::deck

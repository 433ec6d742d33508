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
       .meaning = "Detector pixel, metres (75e-6 for an Eiger), after any binning.",
       .least = 1e-7,
       .greatest = 0.01,
       .hint = "pixels are in metres: did you give micrometres or millimetres?"},
      {.name = "experiment.detector_pixel_rad",
       .field = &experiment.detector_pixel_rad,
       .meaning = "Angle that one detector pixel covers, radians: how electron data are usually "
                  "calibrated. Replaces `distance_m` and `detector_pixel_m`.",
       .least = 1e-8,
       .greatest = 0.1,
       .hint = "angles are in radians: did you give milliradians?"},
  };
}

std::vector<Key> probe_keys(Probe& probe) {
  return {
      {.name = "probe.initial",
       .field = &probe.initial,
       .meaning =
           "First guess of the probe: a `dataset` of the data file; the focus of an `aperture` "
           "or of a `zone_plate`; `mean_pattern`, if nothing is known of the optics; or a "
           "`file`, the result of an earlier run. A guess near the truth saves many epochs.",
       .choices = {"dataset", "aperture", "zone_plate", "mean_pattern", "file"}},
      {.name = "probe.dataset",
       .field = &probe.dataset,
       .meaning = "Dataset of `data.file`, (y, x) or (mode, y, x), complex; for `dataset`."},
      {.name = "probe.file",
       .field = &probe.file,
       .meaning = "Result of an earlier run; for `file`.",
       .is_path = true},
      {.name = "probe.semi_angle_rad",
       .field = &probe.semi_angle_rad,
       .meaning = "Half the convergence angle, radians; for `aperture`.",
       .least = 0,
       .greatest = 0.5,
       .hint = "angles are in radians: did you give milliradians?"},
      {.name = "probe.defocus_m",
       .field = &probe.defocus_m,
       .meaning = "From focus to sample along the beam, metres, negative before the focus "
                  "(underfocus); for `aperture` and `zone_plate`. Worth setting even roughly: it "
                  "decides the probe's size and the sign of its curvature.",
       .least = -1,
       .greatest = 1,
       .hint = "lengths are in metres"},
      {.name = "probe.zone_plate_diameter_m",
       .field = &probe.zone_plate_diameter_m,
       .meaning = "Diameter of the zone plate, metres; for `zone_plate`.",
       .least = 0,
       .greatest = 0.01,
       .hint = "lengths are in metres: did you give micrometres?"},
      {.name = "probe.outer_zone_width_m",
       .field = &probe.outer_zone_width_m,
       .meaning =
           "Width of the outermost zone, metres; for `zone_plate`. With the diameter it sets "
           "the focal length, diameter * width / wavelength.",
       .least = 0,
       .greatest = 1e-4,
       .hint = "lengths are in metres: did you give nanometres?"},
      {.name = "probe.central_stop_m",
       .field = &probe.central_stop_m,
       .meaning = "Diameter of the central stop, metres; for `zone_plate`. 0: none.",
       .least = 0,
       .greatest = 0.01,
       .hint = "lengths are in metres: did you give micrometres?"},
      {.name = "probe.n_modes",
       .field = &probe.n_modes,
       .meaning =
           "Mutually incoherent probe modes. More than 1 when the beam is partly coherent or "
           "the sample moves during an exposure; time and memory grow in proportion.",
       .least = 1,
       .greatest = 32},
      {.name = "probe.extra_mode_power",
       .field = &probe.extra_mode_power,
       .meaning = "Power of each mode that the first guess lacks, as a fraction of the total. "
                  "Small, so that extra modes take up only what the first cannot explain.",
       .least = 0,
       .greatest = 1},
  };
}

std::vector<Key> object_keys(Object& object) {
  return {
      {.name = "object.initial",
       .field = &object.initial,
       .meaning = "First guess of the object: `ones` (nothing in the beam) or a `file`, the result "
                  "of an earlier run.",
       .choices = {"ones", "file"}},
      {.name = "object.file",
       .field = &object.file,
       .meaning = "Result of an earlier run; for `file`.",
       .is_path = true},
  };
}

}  // namespace tessera::deck

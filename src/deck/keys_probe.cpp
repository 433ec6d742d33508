#include "sections.hpp"

namespace tessera::deck {

std::vector<Key> probe_keys(Probe& probe) {
  return {
      {.name = "probe.initial",
       .field = &probe.initial,
       .meaning =
           "First guess of the probe: a `dataset` of the data file; the focus of an `aperture` "
           "or of a `zone_plate`; a `vacuum` measurement; `mean_pattern`, if nothing is known of "
           "the optics; or a `file`, the result of an earlier run. A guess near the truth saves "
           "many epochs.",
       .choices = {"dataset", "aperture", "zone_plate", "vacuum", "mean_pattern", "file"}},
      {.name = "probe.dataset",
       .field = &probe.dataset,
       .meaning =
           "Dataset of `data.file`, (y, x) or (mode, y, x), complex; for `dataset`. Of the file's "
           "pattern shape it is cropped, binned and padded as they are."},
      {.name = "probe.file",
       .field = &probe.file,
       .meaning = "Result of an earlier run; for `file`.",
       .is_path = true},
      {.name = "probe.vacuum",
       .field = &probe.vacuum,
       .meaning = "Dataset of `data.file` with patterns without a sample, (y, x) or (n, y, x), "
                  "counts; for `vacuum`."},
      {.name = "probe.semi_angle_rad",
       .field = &probe.semi_angle_rad,
       .meaning = "Half the convergence angle, radians; for `aperture`.",
       .least = 0,
       .greatest = 0.5,
       .hint = "angles are in radians: did you give milliradians?"},
      {.name = "probe.defocus_m",
       .field = &probe.defocus_m,
       .meaning = "From focus to sample along the beam, metres, negative before the focus "
                  "(underfocus); for all but `dataset` and `file`. Worth setting even roughly: it "
                  "decides the probe's size and the sign of its curvature.",
       .least = -1,
       .greatest = 1,
       .hint = "lengths are in metres"},
      {.name = "probe.astigmatism_m",
       .field = &probe.astigmatism_m,
       .meaning = "Two-fold astigmatism, metres: half the difference of the defocus along "
                  "`astigmatism_angle_rad` and across; for all but `dataset` and `file`.",
       .least = -1,
       .greatest = 1,
       .hint = "lengths are in metres: did you give nanometres?"},
      {.name = "probe.astigmatism_angle_rad",
       .field = &probe.astigmatism_angle_rad,
       .meaning =
           "Direction in which astigmatism adds to the defocus, radians, from +x towards +y.",
       .least = -6.3,
       .greatest = 6.3,
       .hint = "angles are in radians: did you give degrees?"},
      {.name = "probe.coma_m",
       .field = &probe.coma_m,
       .meaning = "Axial coma, metres, for all but `dataset` and `file`.",
       .least = -1,
       .greatest = 1,
       .hint = "lengths are in metres: did you give nanometres?"},
      {.name = "probe.coma_angle_rad",
       .field = &probe.coma_angle_rad,
       .meaning = "Direction of the coma, radians, from +x towards +y.",
       .least = -6.3,
       .greatest = 6.3,
       .hint = "angles are in radians: did you give degrees?"},
      {.name = "probe.spherical_m",
       .field = &probe.spherical_m,
       .meaning = "Spherical aberration Cs, metres, for all but `dataset` and `file`.",
       .least = -10,
       .greatest = 10,
       .hint = "lengths are in metres: did you give millimetres?"},
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
      {.name = "probe.opr_modes",
       .field = &probe.opr_modes,
       .meaning =
           "Orthogonal probe relaxation (Odstrcil et al. 2016): further modes that are added "
           "to the first probe mode coherently, with weights of each position's own. For "
           "beams that drift or breathe; 0: none.",
       .least = 0,
       .greatest = 16},
  };
}

}  // namespace tessera::deck

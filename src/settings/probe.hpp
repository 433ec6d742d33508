#pragma once
/// What the probe is made of, and what it starts from.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/text.hpp"

#include "settings/key.hpp"

namespace tessera::settings {

/// Whether the beam changes along the scan, found by trying.
struct OprTrial {
  std::optional<int> from_epoch = {};  ///< a deck that was read says it
  bool is_of_recipe = false;           ///< chosen by `auto`, not by the deck

  static constexpr int n_modes = 2;
  static constexpr int n_epochs = 10;

  Key key() {
    return {.name = "opr_trial_epoch",
            .field = &from_epoch,
            .meaning = text("Epoch, from 0, from which ", n_epochs, " are tried with ", n_modes,
                            " OPR modes, where `opr_modes` is 0, and positions and intensities "
                            "anew: the modes stay if the error is 8 % lower then than as it went "
                            "before, 5 % where intensities are fitted; -1: never. `auto`: with "
                            "`solver.method = \"auto\"` alone, in 50 epochs and more of a thin "
                            "sample that stands still, the last of its first part; else never."),
            .min = -1,
            .max = 1000000,
            .none = "auto"};
  }
};

struct Probe {
  std::string initial = "dataset";
  std::string dataset = "probe";
  std::string dataset_file;
  std::string file;
  bool measure_curvature = true;
  double semi_angle_rad = 0;
  std::string vacuum;
  double defocus_m = 0;
  double astigmatism_m = 0;
  double astigmatism_angle_rad = 0;
  double coma_m = 0;
  double coma_angle_rad = 0;
  double spherical_m = 0;
  double zone_plate_diameter_m = 0;
  double outer_zone_width_m = 0;
  double central_stop_m = 0;
  int n_modes = 1;
  double extra_mode_power = 0.02;
  int opr_modes = 0;
  OprTrial opr_trial = {};

  static constexpr int max_opr_modes = 16;

  std::vector<Key> keys() {
    return {
        {.name = "initial",
         .field = &initial,
         .meaning =
             "First guess of the probe: a `dataset` of the data file; the focus of an `aperture` "
             "or of a `zone_plate`; a `vacuum` measurement; `mean_pattern`, if nothing is known of "
             "the optics; or a `file`, the result of an earlier run. A guess near the truth saves "
             "many epochs.",
         .choices = {"dataset", "aperture", "zone_plate", "vacuum", "mean_pattern", "file"}},
        {.name = "dataset",
         .field = &dataset,
         .meaning = "Dataset of `data.file`, (y, x) or (mode, y, x), complex; for `dataset`. Of "
                    "the file's "
                    "pattern shape it is cropped, binned and padded as they are."},
        {.name = "dataset_file",
         .field = &dataset_file,
         .meaning = "File of `dataset` if it is not `data.file`: HDF5, or NumPy, whose array needs "
                    "no name.",
         .is_path = true},
        {.name = "file",
         .field = &file,
         .meaning = "Result of an earlier run; for `file`.",
         .is_path = true},
        {.name = "vacuum",
         .field = &vacuum,
         .meaning = "Dataset of `data.file` with patterns without a sample, (y, x) or (n, y, x), "
                    "counts; for `vacuum`."},
        {.name = "measure_curvature",
         .field = &measure_curvature,
         .meaning = "The beam starts with what the patterns' motion with the sample shows: in the "
                    "near field, of `vacuum` and `mean_pattern`, with their curvature; in a far "
                    "field, of `aperture` and `zone_plate`, too, with their defocus, where that "
                    "comes to a lower error in a short trial than `defocus_m`. False: with "
                    "those that the deck gives."},
        {.name = "semi_angle_rad",
         .field = &semi_angle_rad,
         .meaning = "Half the convergence angle, radians; for `aperture`.",
         .min = 0,
         .max = 0.5,
         .hint = "angles are in radians: did you give milliradians?"},
        {.name = "defocus_m",
         .field = &defocus_m,
         .meaning =
             "From focus to sample along the beam, metres, negative before the focus "
             "(underfocus); for all but `dataset` and `file`. Worth setting even roughly: it "
             "decides the probe's size and the sign of its curvature.",
         .min = -1,
         .max = 1,
         .hint = "lengths are in metres"},
        {.name = "astigmatism_m",
         .field = &astigmatism_m,
         .meaning = "Two-fold astigmatism, metres: half the difference of the defocus along "
                    "`astigmatism_angle_rad` and across; for all but `dataset` and `file`.",
         .min = -1,
         .max = 1,
         .hint = "lengths are in metres: did you give nanometres?"},
        {.name = "astigmatism_angle_rad",
         .field = &astigmatism_angle_rad,
         .meaning =
             "Direction in which astigmatism adds to the defocus, radians, from +x towards +y.",
         .min = -6.3,
         .max = 6.3,
         .hint = "angles are in radians: did you give degrees?"},
        {.name = "coma_m",
         .field = &coma_m,
         .meaning = "Axial coma, metres, for all but `dataset` and `file`.",
         .min = -1,
         .max = 1,
         .hint = "lengths are in metres: did you give nanometres?"},
        {.name = "coma_angle_rad",
         .field = &coma_angle_rad,
         .meaning = "Direction of the coma, radians, from +x towards +y.",
         .min = -6.3,
         .max = 6.3,
         .hint = "angles are in radians: did you give degrees?"},
        {.name = "spherical_m",
         .field = &spherical_m,
         .meaning = "Spherical aberration Cs, metres, for all but `dataset` and `file`.",
         .min = -10,
         .max = 10,
         .hint = "lengths are in metres: did you give millimetres?"},
        {.name = "zone_plate_diameter_m",
         .field = &zone_plate_diameter_m,
         .meaning = "Diameter of the zone plate, metres; for `zone_plate`.",
         .min = 0,
         .max = 0.01,
         .hint = "lengths are in metres: did you give micrometres?"},
        {.name = "outer_zone_width_m",
         .field = &outer_zone_width_m,
         .meaning =
             "Width of the outermost zone, metres; for `zone_plate`. With the diameter it sets "
             "the focal length, diameter * width / wavelength.",
         .min = 0,
         .max = 1e-4,
         .hint = "lengths are in metres: did you give nanometres?"},
        {.name = "central_stop_m",
         .field = &central_stop_m,
         .meaning = "Diameter of the central stop, metres; for `zone_plate`. 0: none.",
         .min = 0,
         .max = 0.01,
         .hint = "lengths are in metres: did you give micrometres?"},
        {.name = "n_modes",
         .field = &n_modes,
         .meaning =
             "Mutually incoherent probe modes. More than 1 when the beam is partly coherent or "
             "the sample moves during an exposure; time and memory grow in proportion.",
         .min = 1,
         .max = 32},
        {.name = "extra_mode_power",
         .field = &extra_mode_power,
         .meaning = "Power of each mode that the first guess lacks, as a fraction of the total. "
                    "Small, so that extra modes take up only what the first cannot explain.",
         .min = 0,
         .max = 1},
        {.name = "opr_modes",
         .field = &opr_modes,
         .meaning =
             "Orthogonal probe relaxation (Odstrcil et al. 2016): further modes that are added "
             "to the first probe mode coherently, with weights of each position's own. For "
             "beams that drift or breathe; 0: none.",
         .min = 0,
         .max = max_opr_modes},
        opr_trial.key(),
    };
  }

  /// Made of an optic.
  /// An optic's 0 is its focus; what starts from a pattern has none until it is measured.
  bool says_defocus() const { return defocus_m != 0 || is_optic(); }
  bool is_optic() const { return initial == "aperture" || initial == "zone_plate"; }
  /// Made of patterns, brought back to the sample.
  bool is_image() const { return initial == "mean_pattern" || initial == "vacuum"; }

  /// @throws InputError
  void check() const {
    check_aberrations();
    if (initial == "aperture")
      require(semi_angle_rad > 0,
              "probe.initial = \"aperture\" needs probe.semi_angle_rad above 0: half the "
              "convergence angle, radians");
    if (initial == "zone_plate") check_zone_plate();
  }

 private:
  /// A probe that was measured or reconstructed has its aberrations already.
  void check_aberrations() const {
    if (initial != "dataset" && initial != "file") return;
    for (const auto& [name, value] :
         {std::pair{"astigmatism_m", astigmatism_m}, std::pair{"coma_m", coma_m},
          std::pair{"spherical_m", spherical_m}})
      require(value == 0,
              text("probe.", name, " = ", number_text(value), " is not for probe.initial = \"",
                   initial, R"("; use "aperture", "zone_plate", "vacuum" or "mean_pattern")"));
  }
  void check_zone_plate() const {
    const std::string needs = "probe.initial = \"zone_plate\" needs probe.";
    require(zone_plate_diameter_m > 0, needs + "zone_plate_diameter_m above 0, metres");
    require(outer_zone_width_m > 0, needs + "outer_zone_width_m above 0, metres");
    require(central_stop_m < zone_plate_diameter_m,
            text("probe.central_stop_m = ", number_text(central_stop_m),
                 " must be less than probe.zone_plate_diameter_m = ",
                 number_text(zone_plate_diameter_m)));
  }
};

}  // namespace tessera::settings

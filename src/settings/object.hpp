#pragma once
/// What the object is made of, and what it starts from.

#include <string>
#include <vector>

#include "settings/key.hpp"

namespace tessera::settings {

struct Object {
  std::string initial = "ones";
  std::string file;
  double random_phase_rad = 0.1;
  int n_modes = 1;
  int n_slices = 1;
  double slice_thickness_m = 0;
  std::vector<double> slice_distances_m;

  std::vector<Key> keys() {
    return {
        {.name = "initial",
         .field = &initial,
         .meaning = "First guess of the object: `ones` (nothing in the beam); `random_phase`; a "
                    "phase whose gradient is the patterns' `centre_of_mass`; an absorption from "
                    "their counts, `stxm`; or a `file`, the result of an earlier run.",
         .choices = {"ones", "random_phase", "centre_of_mass", "stxm", "file"}},
        {.name = "file",
         .field = &file,
         .meaning = "Result of an earlier run; for `file`.",
         .is_path = true},
        {.name = "random_phase_rad",
         .field = &random_phase_rad,
         .meaning = "Greatest phase of each pixel, radians, drawn from `solver.seed`; for "
                    "`random_phase`.",
         .min = 0,
         .max = 3.15,
         .hint = "angles are in radians: did you give degrees?"},
        {.name = "n_modes",
         .field = &n_modes,
         .meaning = "Mutually incoherent states of the object, for samples that move or fluctuate "
                    "during an exposure.",
         .min = 1,
         .max = 16},
        {.name = "n_slices",
         .field = &n_slices,
         .meaning =
             "Slices of a thick sample (multislice; Maiden, Humphry & Rodenburg 2012), along "
             "the beam. Time grows in proportion.",
         .min = 1,
         .max = 1000},
        {.name = "slice_thickness_m",
         .field = &slice_thickness_m,
         .meaning = "Distance between slices, metres; with more than one this or "
                    "`slice_distances_m` is needed.",
         .min = 0,
         .max = 0.1,
         .hint = "lengths are in metres: did you give nanometres or micrometres?"},
        {.name = "slice_distances_m",
         .field = &slice_distances_m,
         .meaning = "Distances from each slice to the next, metres, where they are not equal: "
                    "`n_slices` - 1 of them.",
         .min = 0,
         .max = 0.1,
         .hint = "lengths are in metres: did you give nanometres or micrometres?"},
    };
  }

  /// From each slice to the next, n_slices - 1.
  std::vector<double> distances_m() const {
    if (!slice_distances_m.empty()) return slice_distances_m;
    return std::vector<double>(static_cast<std::size_t>(n_slices - 1), slice_thickness_m);
  }
};

}  // namespace tessera::settings

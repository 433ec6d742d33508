#pragma once
/// The sample, the scan and what goes wrong, where data are made.

#include <cstdint>
#include <string>
#include <vector>

#include "settings/key.hpp"

namespace tessera::settings {

struct Simulation {
  std::string object = "siemens_star";
  double phase_rad = 0.8;
  double absorption = 0.1;
  int n_dopants = 6;
  std::string scan = "raster";
  int n_positions = 400;
  double step_m = 0;
  double jitter = 0.2;
  std::vector<int> detector_shape = {64, 64};
  double counts_per_pattern = 1e6;
  std::string noise = "poisson";
  double dead_pixel_fraction = 0;
  double defocus_offset_m = 0;
  double mode_power = 0.2;
  double diffuser_rad = 0;
  double probe_drift = 0;
  double intensity_jitter = 0;
  double position_error_px = 0;
  std::vector<double> position_affine;
  std::vector<double> position_drift_px;
  double background_fraction = 0;
  double saturation_fraction = 0;
  std::uint64_t seed = 1;

  std::vector<Key> keys() {
    return {
        {.name = "object",
         .field = &object,
         .meaning =
             "The sample: `siemens_star` shows resolution in every direction, `cells` is smooth "
             "and weak like tissue, `resolution_chart` has bars of known width; the slices of a "
             "thick sample take turns among them, turned and moved. `atoms`: blobs on a disturbed "
             "lattice in every slice, as electrons see them. `perovskite` and `mos2`: columns of "
             "heavy "
             "and light atoms that pass through all slices, at known places.",
         .choices = {"siemens_star", "cells", "resolution_chart", "atoms", "perovskite", "mos2"}},
        {.name = "phase_rad",
         .field = &phase_rad,
         .meaning = "Greatest phase shift of the sample, of each slice, radians.",
         .min = 0,
         .max = 6.3},
        {.name = "absorption",
         .field = &absorption,
         .meaning = "Greatest fraction of the amplitude that the sample, each slice, absorbs.",
         .min = 0,
         .max = 0.99},
        {.name = "n_dopants",
         .field = &n_dopants,
         .meaning =
             "Foreign atoms in the scanned part of `perovskite` or `mos2`, each in one slice "
             "of a column: what depth resolution is measured at.",
         .min = 0,
         .max = 10000},
        {.name = "scan",
         .field = &scan,
         .meaning = "Scan pattern. A perfect `raster` leaves a periodic ambiguity unless it is "
                    "jittered; `fermat` spirals and `concentric` rings have none.",
         .choices = {"raster", "fermat", "concentric"}},
        {.name = "n_positions",
         .field = &n_positions,
         .meaning = "Scan positions. A raster takes the nearest shape that is about square.",
         .min = 1,
         .max = 1e8},
        {.name = "step_m",
         .field = &step_m,
         .meaning =
             "Distance between neighbouring positions, metres. A third of the probe's width or "
             "less gives the overlap that a reconstruction needs.",
         .min = 0,
         .max = 0.01,
         .hint = "steps are in metres: did you give micrometres?"},
        {.name = "jitter",
         .field = &jitter,
         .meaning = "Random displacement of each position, as a fraction of the step.",
         .min = 0,
         .max = 1},
        {.name = "detector_shape",
         .field = &detector_shape,
         .meaning =
             "Rows and columns of the detector; equal, or object pixels would not be square.",
         .min = 8,
         .max = 16384,
         .length = 2},
        {.name = "counts_per_pattern",
         .field = &counts_per_pattern,
         .meaning = "Mean counts of a pattern: the dose.",
         .min = 1,
         .max = 1e15},
        {.name = "noise",
         .field = &noise,
         .meaning =
             "`poisson`: counting noise; `none`: exact intensities, to test what noise hides.",
         .choices = {"none", "poisson"}},
        {.name = "dead_pixel_fraction",
         .field = &dead_pixel_fraction,
         .meaning = "Fraction of detector pixels that are bad, half of them dead and half hot. "
                    "`data.valid_pixels` names the mask that lists them.",
         .min = 0,
         .max = 0.9},
        {.name = "defocus_offset_m",
         .field = &defocus_offset_m,
         .meaning =
             "True defocus minus `probe.defocus_m`, metres: how wrong the first guess of the "
             "probe will be.",
         .min = -1,
         .max = 1,
         .hint = "lengths are in metres"},
        {.name = "mode_power",
         .field = &mode_power,
         .meaning = "Fraction of the beam's power in modes beyond the first, if `probe.n_modes` is "
                    "above 1.",
         .min = 0,
         .max = 0.9},
        {.name = "diffuser_rad",
         .field = &diffuser_rad,
         .meaning = "Root mean square phase of a random, smooth (about 4 pixels) diffuser in the "
                    "beam, radians: the structured illumination that the near field needs.",
         .min = 0,
         .max = 10},
        {.name = "seed",
         .field = &seed,
         .meaning = "Seed of noise, jitter and sample.",
         .min = 0,
         .max = 4294967295.0},
        {.name = "probe_drift",
         .field = &probe_drift,
         .meaning = "Amplitude, relative to the first probe mode, of two further modes that are "
                    "added to it coherently, one growing along the scan, one swinging: a beam that "
                    "changes, for `probe.opr_modes`.",
         .min = 0,
         .max = 2},
        {.name = "intensity_jitter",
         .field = &intensity_jitter,
         .meaning = "Relative root mean square fluctuation of the beam current from position to "
                    "position.",
         .min = 0,
         .max = 0.5},
        {.name = "position_error_px",
         .field = &position_error_px,
         .meaning = "Root mean square length of the random errors in the positions that are "
                    "written, object pixels.",
         .min = 0,
         .max = 100},
        {.name = "position_affine",
         .field = &position_affine,
         .meaning = "Error of the written positions as a whole: scale_y, scale_x, rotation_rad, "
                    "shear, each a deviation from none. Empty: none.",
         .min = -0.5,
         .max = 0.5,
         .length = 4},
        {.name = "position_drift_px",
         .field = &position_drift_px,
         .meaning = "How far the beam wanders over the sample during the scan, (y, x), object "
                    "pixels, slower and slower; the written positions know nothing of it. Empty: "
                    "not at all.",
         .min = -100,
         .max = 100,
         .length = 2},
        {.name = "background_fraction",
         .field = &background_fraction,
         .meaning =
             "Incoherent, smooth background that is added to every pattern, as a fraction of "
             "`counts_per_pattern`.",
         .min = 0,
         .max = 10},
        {.name = "saturation_fraction",
         .field = &saturation_fraction,
         .meaning = "Fraction of all pixels that is clipped at one level, which is printed and "
                    "stored as `saturation_counts`.",
         .min = 0,
         .max = 0.5},
    };
  }

  /// @throws InputError
  void check() const {
    require(step_m > 0,
            "simulation.step_m must be above 0: the distance between scan positions, metres");
    require(detector_shape.size() == 2,
            "simulation.detector_shape = [] must be rows and columns, such as [64, 64]");
  }
};

}  // namespace tessera::settings

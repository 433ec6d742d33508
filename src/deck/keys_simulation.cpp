#include "sections.hpp"

namespace tessera::deck {

namespace {

/// What the sample and the scan are.
std::vector<Key> sample_keys(Simulation& simulation) {
  return {
      {.name = "simulation.object",
       .field = &simulation.object,
       .meaning =
           "The sample: `siemens_star` shows resolution in every direction, `cells` is smooth "
           "and weak like tissue, `resolution_chart` has bars of known width; the slices of a "
           "thick sample take turns among them, turned and moved. `atoms`: blobs on a disturbed "
           "lattice in every slice, as electrons see them.",
       .choices = {"siemens_star", "cells", "resolution_chart", "atoms"}},
      {.name = "simulation.phase_rad",
       .field = &simulation.phase_rad,
       .meaning = "Greatest phase shift of the sample, of each slice, radians.",
       .least = 0,
       .greatest = 6.3},
      {.name = "simulation.absorption",
       .field = &simulation.absorption,
       .meaning = "Greatest fraction of the amplitude that the sample, each slice, absorbs.",
       .least = 0,
       .greatest = 0.99},
      {.name = "simulation.scan",
       .field = &simulation.scan,
       .meaning = "Scan pattern. A perfect `raster` leaves a periodic ambiguity unless it is "
                  "jittered; `fermat` spirals and `concentric` rings have none.",
       .choices = {"raster", "fermat", "concentric"}},
      {.name = "simulation.n_positions",
       .field = &simulation.n_positions,
       .meaning = "Scan positions. A raster takes the nearest shape that is about square.",
       .least = 1,
       .greatest = 1e8},
      {.name = "simulation.step_m",
       .field = &simulation.step_m,
       .meaning =
           "Distance between neighbouring positions, metres. A third of the probe's width or "
           "less gives the overlap that a reconstruction needs.",
       .least = 0,
       .greatest = 0.01,
       .hint = "steps are in metres: did you give micrometres?"},
      {.name = "simulation.jitter",
       .field = &simulation.jitter,
       .meaning = "Random displacement of each position, as a fraction of the step.",
       .least = 0,
       .greatest = 1},
  };
}

/// What the beam and the detector are.
std::vector<Key> detector_keys(Simulation& simulation) {
  return {
      {.name = "simulation.detector_shape",
       .field = &simulation.detector_shape,
       .meaning = "Rows and columns of the detector; equal, or object pixels would not be square.",
       .least = 8,
       .greatest = 16384,
       .length = 2},
      {.name = "simulation.counts_per_pattern",
       .field = &simulation.counts_per_pattern,
       .meaning = "Mean counts of a pattern: the dose.",
       .least = 1,
       .greatest = 1e15},
      {.name = "simulation.noise",
       .field = &simulation.noise,
       .meaning = "`poisson`: counting noise; `none`: exact intensities, to test what noise hides.",
       .choices = {"none", "poisson"}},
      {.name = "simulation.dead_pixel_fraction",
       .field = &simulation.dead_pixel_fraction,
       .meaning = "Fraction of detector pixels that are bad, half of them dead and half hot. "
                  "`data.valid_pixels` names the mask that lists them.",
       .least = 0,
       .greatest = 0.9},
      {.name = "simulation.defocus_offset_m",
       .field = &simulation.defocus_offset_m,
       .meaning = "True defocus minus `probe.defocus_m`, metres: how wrong the first guess of the "
                  "probe will be.",
       .least = -1,
       .greatest = 1,
       .hint = "lengths are in metres"},
      {.name = "simulation.mode_power",
       .field = &simulation.mode_power,
       .meaning = "Fraction of the beam's power in modes beyond the first, if `probe.n_modes` is "
                  "above 1.",
       .least = 0,
       .greatest = 0.9},
      {.name = "simulation.diffuser_rad",
       .field = &simulation.diffuser_rad,
       .meaning = "Root mean square phase of a random, smooth (about 4 pixels) diffuser in the "
                  "beam, radians: the structured illumination that the near field needs.",
       .least = 0,
       .greatest = 10},
      {.name = "simulation.seed",
       .field = &simulation.seed,
       .meaning = "Seed of noise, jitter and sample.",
       .least = 0,
       .greatest = 4294967295.0},
  };
}

/// What goes wrong in an experiment.
std::vector<Key> defect_keys(Simulation& simulation) {
  return {
      {.name = "simulation.probe_drift",
       .field = &simulation.probe_drift,
       .meaning = "Amplitude, relative to the first probe mode, of two further modes that are "
                  "added to it coherently, one growing along the scan, one swinging: a beam that "
                  "changes, for `probe.opr_modes`.",
       .least = 0,
       .greatest = 2},
      {.name = "simulation.intensity_jitter",
       .field = &simulation.intensity_jitter,
       .meaning = "Relative root mean square fluctuation of the beam current from position to "
                  "position.",
       .least = 0,
       .greatest = 0.5},
      {.name = "simulation.position_error_px",
       .field = &simulation.position_error_px,
       .meaning = "Root mean square length of the random errors in the positions that are "
                  "written, object pixels.",
       .least = 0,
       .greatest = 100},
      {.name = "simulation.position_affine",
       .field = &simulation.position_affine,
       .meaning = "Error of the written positions as a whole: scale_y, scale_x, rotation_rad, "
                  "shear, each a deviation from none. Empty: none.",
       .least = -0.5,
       .greatest = 0.5,
       .length = 4},
      {.name = "simulation.background_fraction",
       .field = &simulation.background_fraction,
       .meaning = "Incoherent, smooth background that is added to every pattern, as a fraction of "
                  "`counts_per_pattern`.",
       .least = 0,
       .greatest = 10},
      {.name = "simulation.saturation_fraction",
       .field = &simulation.saturation_fraction,
       .meaning = "Fraction of all pixels that is clipped at one level, which is printed and "
                  "stored as `saturation_counts`.",
       .least = 0,
       .greatest = 0.5},
  };
}

}  // namespace

std::vector<Key> simulation_keys(Simulation& simulation) {
  std::vector<Key> all = sample_keys(simulation);
  for (Key& key : detector_keys(simulation)) all.push_back(std::move(key));
  for (Key& key : defect_keys(simulation)) all.push_back(std::move(key));
  return all;
}

}  // namespace tessera::deck

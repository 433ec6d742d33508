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
           "and weak like tissue, `resolution_chart` has bars of known width.",
       .choices = {"siemens_star", "cells", "resolution_chart"}},
      {.name = "simulation.phase_rad",
       .field = &simulation.phase_rad,
       .meaning = "Greatest phase shift of the sample, radians.",
       .least = 0,
       .greatest = 6.3},
      {.name = "simulation.absorption",
       .field = &simulation.absorption,
       .meaning = "Greatest fraction of the amplitude that the sample absorbs.",
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
      {.name = "simulation.seed",
       .field = &simulation.seed,
       .meaning = "Seed of noise, jitter and sample.",
       .least = 0,
       .greatest = 4294967295.0},
  };
}

}  // namespace

std::vector<Key> simulation_keys(Simulation& simulation) {
  std::vector<Key> all = sample_keys(simulation);
  for (Key& key : detector_keys(simulation)) all.push_back(std::move(key));
  return all;
}

}  // namespace tessera::deck

#include "sections.hpp"

namespace tessera::deck {

std::vector<Key> solver_keys(Solver& solver) {
  return {
      {.name = "method",
       .field = &solver.method,
       .meaning = "`rpie`: regularised PIE (Maiden, Johnson & Li 2017, Optica 4, 736) in batches. "
                  "`epie` is rpie with both alphas 1: slower but steadier. With batch_size above 1 "
                  "neither is the sequential ePIE, in which every position sees the one before. "
                  "`mpie` is rpie with momentum. `lsqml` (Odstrcil et al. 2018, Opt. Express 26, "
                  "3108) solves for the length of every step. "
                  "`dm`: difference map (Thibault et al. 2009, Ultramicroscopy 109, 338), robust "
                  "from a poor start. `raar`: relaxed averaged alternating reflections (Luke 2005, "
                  "Inverse Problems 21, 37), the same with a damper. Both leave noise that another "
                  "method removes. `ml`: maximum likelihood by conjugate gradients over the whole "
                  "scan, with a line search (Thibault & Guizar-Sicairos 2012, New J. Phys. 14, "
                  "063004). `lbfgs`: the same by limited-memory BFGS. `adam`: gradient steps of "
                  "batches, scaled by their moments (Kingma & Ba 2015).",
       .choices = {"rpie", "epie", "mpie", "lsqml", "dm", "raar", "ml", "lbfgs", "adam"}},
      {.name = "epochs",
       .field = &solver.epochs,
       .meaning = "Passes over all scan positions.",
       .least = 1,
       .greatest = 1000000},
      {.name = "batch_size",
       .field = &solver.batch_size,
       .meaning =
           "Positions updated together, over all ranks; 0: all, as `dm` and `raar` need it. Small "
           "batches need fewer epochs, large ones keep more GPUs busy. The answer does not depend "
           "on the number of ranks.",
       .least = 0,
       .greatest = 1e9},
      {.name = "batch_order",
       .field = &solver.batch_order,
       .meaning = "`spread` deals out neighbours to different batches, so that a batch covers the "
                  "sample evenly and every rank has its share; `random` deals anew in every epoch; "
                  "`compact` keeps neighbours together.",
       .choices = {"spread", "random", "compact"}},
      {.name = "seed",
       .field = &solver.seed,
       .meaning = "Seed of every random choice of the reconstruction.",
       .least = 0,
       .greatest = 4294967295.0},
      {.name = "object_step",
       .field = &solver.object_step,
       .meaning = "Length of the object update. Lower it if the error rises or swings; 0 keeps the "
                  "object. With `adam` the default is 0.02, the change of a pixel by a batch.",
       .least = 0,
       .greatest = 2},
      {.name = "probe_step",
       .field = &solver.probe_step,
       .meaning =
           "Length of the probe update; 0 keeps the probe. With `adam` the default is 0.02, of "
           "the probe's greatest amplitude.",
       .least = 0,
       .greatest = 2},
      {.name = "object_alpha",
       .field = &solver.object_alpha,
       .meaning = "Regularisation of the object update, from near 0 (bold where the probe is weak) "
                  "to 1 (ePIE). Lower it for few epochs on clean data.",
       .least = 1e-6,
       .greatest = 1},
      {.name = "probe_alpha",
       .field = &solver.probe_alpha,
       .meaning = "The same for the probe update.",
       .least = 1e-6,
       .greatest = 1},
      {.name = "momentum",
       .field = &solver.momentum,
       .meaning = "For `mpie` and `lsqml`: the part of an epoch's change of object and probe that "
                  "the next epoch adds to its own; 0: none.",
       .least = 0,
       .greatest = 0.99},
      {.name = "full_step_fraction",
       .field = &solver.full_step_fraction,
       .meaning =
           "Fraction of the epochs with full steps; after it both steps shrink geometrically. "
           "Small last steps average the noise that full ones keep chasing.",
       .least = 0,
       .greatest = 1},
      {.name = "final_step",
       .field = &solver.final_step,
       .meaning = "What is left of both steps in the last epoch, as a fraction; 1: steps stay.",
       .least = 1e-6,
       .greatest = 1},
      {.name = "probe_start_epoch",
       .field = &solver.probe_start_epoch,
       .meaning = "Epochs before the probe is updated, so that it does not take up the features of "
                  "an object that is still missing.",
       .least = 0,
       .greatest = 1000000},
      {.name = "orthogonalise_every",
       .field = &solver.orthogonalise_every,
       .meaning = "Epochs between making the probe modes orthogonal and sorting them by power; 0: "
                  "never.",
       .least = 0,
       .greatest = 1000000},
      {.name = "fourier_relaxation",
       .field = &solver.fourier_relaxation,
       .meaning =
           "Of `dm` and `raar`: patterns whose squared distance to the model's amplitudes is "
           "below fourier_relaxation^2 / 4 of the mean counts are left as they are, others "
           "brought to that distance. Raise it for noisy data; 0: they hold exactly.",
       .least = 0,
       .greatest = 2},
      {.name = "overlap_rounds",
       .field = &solver.overlap_rounds,
       .meaning = "Of `dm` and `raar`: most alternating updates of object and probe in an epoch.",
       .least = 1,
       .greatest = 1000},
      {.name = "overlap_tolerance",
       .field = &solver.overlap_tolerance,
       .meaning = "Of `dm` and `raar`: these updates end once the probe changes by less than this, "
                  "relative to itself.",
       .least = 0,
       .greatest = 1},
      {.name = "raar_beta",
       .field = &solver.raar_beta,
       .meaning = "Of `raar`: 1 reflects in full, as `dm` does; less is steadier; 0.5 makes "
                  "alternating projections.",
       .least = 0.5,
       .greatest = 1},
      {.name = "lbfgs_history",
       .field = &solver.lbfgs_history,
       .meaning = "Past steps that `lbfgs` remembers; each costs twice the memory of object and "
                  "probe.",
       .least = 1,
       .greatest = 100},
      {.name = "adam_beta1",
       .field = &solver.adam_beta1,
       .meaning = "What `adam` keeps of its mean gradient from batch to batch.",
       .least = 0,
       .greatest = 0.9999},
      {.name = "adam_beta2",
       .field = &solver.adam_beta2,
       .meaning = "What `adam` keeps of its mean squared gradient from batch to batch.",
       .least = 0,
       .greatest = 0.99999},
      {.name = "adam_epsilon",
       .field = &solver.adam_epsilon,
       .meaning = "Gradients below this move a pixel less than a full step of `adam`; 1 is what a "
                  "position at the probe's peak asks for that is wrong by the whole object.",
       .least = 1e-12,
       .greatest = 1},
      {.name = "noise",
       .field = &solver.noise,
       .meaning = "What the gradient solvers minimise: the difference of `amplitude`s (steady; the "
                  "rule), of the `intensity` weighted by its variance, or the `poisson` "
                  "likelihood, for few counts per pattern.",
       .choices = {"amplitude", "intensity", "poisson"}},
  };
}

}  // namespace tessera::deck

#include "sections.hpp"

namespace tessera::deck {

std::vector<Key> refine_keys(Refine& refine) {
  return {
      first_epoch("refine.positions_from_epoch", &refine.positions_from_epoch,
                  "that fits the scan positions. Start when the object shows its main features"),
      {.name = "refine.positions_method",
       .field = &refine.positions_method,
       .meaning =
           "`gradient`: a Gauss-Newton step after every batch; `cross_correlation`: the shift "
           "of the object in a window by the position's own update, with a gain that adapts.",
       .choices = {"gradient", "cross_correlation"}},
      {.name = "refine.positions_model",
       .field = &refine.positions_model,
       .meaning = "`free`: every position for itself; `affine`: one scale, rotation and shear of "
                  "the whole scan, fitted over all ranks.",
       .choices = {"free", "affine"}},
      {.name = "refine.positions_step",
       .field = &refine.positions_step,
       .meaning = "Length of a position's step; 1: the whole of what is seen. With "
                  "`cross_correlation` times the gain.",
       .least = 1e-6,
       .greatest = 10},
      {.name = "refine.positions_limit_px",
       .field = &refine.positions_limit_px,
       .meaning = "Farthest that a position may move along each axis, object pixels. The object is "
                  "larger by as much.",
       .least = 0.1,
       .greatest = 1000},
      {.name = "refine.positions_margin_px",
       .field = &refine.positions_margin_px,
       .meaning =
           "How much of that tiles are made for, object pixels. Once a position has gone half "
           "as far, new tiles are cut around all of them; with no less than "
           "`positions_limit_px` that is never due.",
       .least = 1,
       .greatest = 1000},
      first_epoch("refine.opr_from_epoch", &refine.opr_from_epoch,
                  "that fits the modes and weights of probe.opr_modes"),
      first_epoch("refine.intensity_from_epoch", &refine.intensity_from_epoch,
                  "that fits the beam's intensity at every position"),
      first_epoch("refine.background_from_epoch", &refine.background_from_epoch,
                  "that fits an incoherent background, the same in all patterns"),
      first_epoch("refine.thickness_from_epoch", &refine.thickness_from_epoch,
                  "that fits the distances between slices"),
      first_epoch("refine.tilt_from_epoch", &refine.tilt_from_epoch,
                  "that fits experiment.beam_tilt_rad"),
  };
}

}  // namespace tessera::deck

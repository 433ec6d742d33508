#include "tessera/base/text.hpp"

#include "sections.hpp"

namespace tessera::deck {
namespace {

/// A quantity that is fitted from an epoch on.
Key from_epoch(const std::string& name, int* field, const std::string& what) {
  return {.name = name,
          .field = field,
          .meaning = text("First epoch, from 0, that fits ", what, "; -1: never."),
          .least = -1,
          .greatest = 1000000};
}

}  // namespace

std::vector<Key> refine_keys(Refine& refine) {
  return {
      from_epoch("refine.positions_from_epoch", &refine.positions_from_epoch,
                 "the scan positions. Start when the object shows its main features"),
      {.name = "refine.positions_model",
       .field = &refine.positions_model,
       .meaning = "`free`: every position for itself; `affine`: one scale, rotation and shear of "
                  "the whole scan, fitted over all ranks.",
       .choices = {"free", "affine"}},
      {.name = "refine.positions_step",
       .field = &refine.positions_step,
       .meaning = "Length of a position's step; 1: the whole of what is seen.",
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
      from_epoch("refine.opr_from_epoch", &refine.opr_from_epoch,
                 "the modes and weights of probe.opr_modes"),
      from_epoch("refine.intensity_from_epoch", &refine.intensity_from_epoch,
                 "the beam's intensity at every position"),
      from_epoch("refine.background_from_epoch", &refine.background_from_epoch,
                 "an incoherent background, the same in all patterns"),
      from_epoch("refine.thickness_from_epoch", &refine.thickness_from_epoch,
                 "the distances between slices"),
      from_epoch("refine.tilt_from_epoch", &refine.tilt_from_epoch, "experiment.beam_tilt_rad"),
  };
}

}  // namespace tessera::deck

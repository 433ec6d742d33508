#pragma once
/// What is fitted besides object and probe.

#include <optional>
#include <string>
#include <vector>

#include "settings/key.hpp"

namespace tessera::settings {

struct Refine {
  /// Of `*_from_epoch`: part of the model, and not fitted.
  static constexpr int no_epoch = 1000000;

  int positions_from_epoch = -1;
  std::string positions_method = "gradient";
  std::string positions_model = "free";
  double positions_step = 1;
  double positions_limit_px = 4;
  double positions_margin_px = 8;
  int opr_from_epoch = 0;
  int intensity_from_epoch = -1;
  double intensity_step = 0.5;
  std::optional<int> background_from_epoch = {};  ///< a deck that was read says it
  double background_step = 0.5;
  int thickness_from_epoch = -1;
  int tilt_from_epoch = -1;

  std::vector<Key> keys() {
    return {
        first_epoch("positions_from_epoch", &positions_from_epoch,
                    "that fits the scan positions. Start when the object shows its main features"),
        {.name = "positions_method",
         .field = &positions_method,
         .meaning =
             "`gradient`: a Gauss-Newton step after every batch; `cross_correlation`: the shift "
             "of the object in a window by the position's own update, with a gain that adapts.",
         .choices = {"gradient", "cross_correlation"}},
        {.name = "positions_model",
         .field = &positions_model,
         .meaning = "`free`: every position for itself; `affine`: one scale, rotation and shear of "
                    "the whole scan, fitted over all ranks.",
         .choices = {"free", "affine"}},
        {.name = "positions_step",
         .field = &positions_step,
         .meaning = "Length of a position's step; 1: the whole of what is seen. With "
                    "`cross_correlation` times the gain; with `dm` and `raar` half.",
         .min = 1e-6,
         .max = 10},
        {.name = "positions_limit_px",
         .field = &positions_limit_px,
         .meaning =
             "Farthest that a position may move along each axis, object pixels. The object is "
             "larger by as much.",
         .min = 0.1,
         .max = 1000},
        {.name = "positions_margin_px",
         .field = &positions_margin_px,
         .meaning =
             "How much of that tiles are made for, object pixels. Once a position has gone half "
             "as far, new tiles are cut around all of them; with no less than "
             "`positions_limit_px` that is never due.",
         .min = 1,
         .max = 1000},
        first_epoch("opr_from_epoch", &opr_from_epoch,
                    "that fits the modes and weights of probe.opr_modes"),
        first_epoch("intensity_from_epoch", &intensity_from_epoch,
                    "that fits the beam's intensity at every position"),
        {.name = "intensity_step",
         .field = &intensity_step,
         .meaning =
             "Length of an intensity's step; 1: the whole of what the position lacks. Half of "
             "that where the background is fitted, too.",
         .min = 1e-6,
         .max = 1},
        {.name = "background_from_epoch",
         .field = &background_from_epoch,
         .meaning = "First epoch, from 0, that fits an incoherent background, the same in all "
                    "patterns; -1: never. `auto`: with X-rays and `solver.method = \"auto\"` alone "
                    "10, or the end of the first quarter where that is before; else never.",
         .min = -1,
         .max = 1000000,
         .none = "auto"},
        {.name = "background_step",
         .field = &background_step,
         .meaning = "Length of the background's step in a batch; 1: the whole of what its patterns "
                    "lack. Half of that where intensities are fitted, too.",
         .min = 1e-6,
         .max = 1},
        first_epoch("thickness_from_epoch", &thickness_from_epoch,
                    "that fits the distances between slices"),
        first_epoch("tilt_from_epoch", &tilt_from_epoch, "that fits experiment.beam_tilt_rad"),
    };
  }
};

}  // namespace tessera::settings

#pragma once
/// What is fitted besides object and probe: the list of it. Each is a struct with its defaults and
/// keys; its step stands in src/solvers/parameters/.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "settings/key.hpp"

namespace tessera::settings {

/// A parameter that only fits have: where it is kept in a result, beside others, and what messages
/// call it.
struct StoredParameter {
  const char* name;
  double at_rest;  ///< what it is without a fit
  const char* word;
};

/// Of the scan.
struct RefinedPositions {
  int from_epoch = -1;
  std::string method = "gradient";
  std::string model = "free";
  double step = 1;
  double limit_px = 4;
  double expected_px = 0.5;
  double lost_ratio = 4;
  double margin_px = 8;

  std::vector<Key> keys() {
    return {
        first_epoch("positions_from_epoch", &from_epoch,
                    "that fits the scan positions. Start when the object shows its main features"),
        {.name = "positions_method",
         .field = &method,
         .meaning =
             "`gradient`: a Gauss-Newton step after every batch; `cross_correlation`: the shift "
             "of the object in a window by the position's own update, with a gain that adapts.",
         .choices = {"gradient", "cross_correlation"}},
        {.name = "positions_model",
         .field = &model,
         .meaning = "`free`: every position for itself; `affine`: one scale, rotation and shear of "
                    "the whole scan, fitted over all ranks.",
         .choices = {"free", "affine"}},
        {.name = "positions_step",
         .field = &step,
         .meaning = "Length of a position's step; 1: the whole of what is seen. Shorter "
                    "where steps swing. With `cross_correlation` times the gain; with `dm` and "
                    "`raar` half to three quarters.",
         .min = 1e-6,
         .max = 10},
        {.name = "positions_limit_px",
         .field = &limit_px,
         .meaning =
             "Farthest that a position may move along each axis, object pixels. The object is "
             "larger by as much.",
         .min = 0.1,
         .max = 1000},
        {.name = "positions_expected_px",
         .field = &expected_px,
         .meaning =
             "Error of a free position along an axis that is to be expected at most, rms, object "
             "pixels, beside an affine map of the scan: where noise lets the patterns tell less, "
             "by `gradient`, positions stay near there. Others do not feel it. 0: nothing holds "
             "them.",
         .min = 0,
         .max = 1000},
        {.name = "positions_lost_ratio",
         .field = &lost_ratio,
         .meaning =
             "A free position whose pattern's error is above this times the typical one (the "
             "geometric mean) has been led astray while the object was poor: it starts anew where, "
             "of "
             "places around that of the scan, its pattern fits. Looked at every 20 epochs; 0: "
             "never.",
         .min = 0,
         .max = 1e6},
        {.name = "positions_margin_px",
         .field = &margin_px,
         .meaning =
             "How much of that tiles are made for, object pixels. Once a position has gone half "
             "as far, new tiles are cut around all of them; with no less than "
             "`positions_limit_px` that is never due.",
         .min = 1,
         .max = 1000}};
  }
};

/// Of the beam, position by position.
struct RefinedIntensity {
  static constexpr StoredParameter stored{"intensity", 1, "intensities"};
  int from_epoch = -1;
  double step = 0.5;

  std::vector<Key> keys() {
    return {first_epoch("intensity_from_epoch", &from_epoch,
                        "that fits the beam's intensity at every position. A steady beam stays so"),
            {.name = "intensity_step",
             .field = &step,
             .meaning =
                 "Length of an intensity's step; 1: the whole of what the position lacks. Half of "
                 "that where the background is fitted, too.",
             .min = 1e-6,
             .max = 1}};
  }
};

/// Modes and weights of orthogonal probe relaxation, where the probe has such modes.
struct RefinedOpr {
  int from_epoch = 0;

  std::vector<Key> keys() {
    return {first_epoch("opr_from_epoch", &from_epoch,
                        "that fits the modes and weights of probe.opr_modes")};
  }
};

/// Incoherent, the same in all patterns.
struct RefinedBackground {
  static constexpr StoredParameter stored{"background", 0, "background"};

  std::optional<int> from_epoch = {};  ///< a deck that was read says it
  bool is_of_recipe = false;           ///< chosen by `auto`, not by the deck
  double step = 0.5;

  std::vector<Key> keys() {
    return {
        {.name = "background_from_epoch",
         .field = &from_epoch,
         .meaning =
             "First epoch, from 0, that fits an incoherent background, the same in all "
             "patterns; -1: never. `auto`: with X-rays and `solver.method = \"auto\"` alone 10, or "
             "the end of the first quarter where that is before; else never.",
         .min = -1,
         .max = 1000000,
         .none = "auto"},
        {.name = "background_step",
         .field = &step,
         .meaning = "Length of the background's step in a batch; 1: the whole of what its patterns "
                    "lack. Half of that where intensities are fitted, too.",
         .min = 1e-6,
         .max = 1}};
  }
};

/// Distances between slices, and the beam's tilt.
struct RefinedSlices {
  int thickness_from_epoch = -1;
  int tilt_from_epoch = -1;

  std::vector<Key> keys() {
    return {first_epoch("thickness_from_epoch", &thickness_from_epoch,
                        "that fits the distances between slices"),
            first_epoch("tilt_from_epoch", &tilt_from_epoch, "that fits experiment.beam_tilt_rad")};
  }
};

struct Refine {
  /// Of `*_from_epoch`: part of the model, and not fitted.
  static constexpr int no_epoch = 1000000;

  RefinedPositions positions = {};
  RefinedIntensity intensity = {};
  RefinedOpr opr = {};
  RefinedBackground background = {};
  RefinedSlices slices = {};

  /// Hands each to visit(...), in the order in which they step.
  template <class Self, class Visit>
  static void for_each(Self& self, const Visit& visit) {
    visit(self.positions);
    visit(self.intensity);
    visit(self.opr);
    visit(self.background);
    visit(self.slices);
  }

  std::vector<Key> keys() {
    std::vector<Key> all;
    for_each(*this, [&](auto& fitted) {
      for (Key& key : fitted.keys()) all.push_back(std::move(key));
    });
    return all;
  }
};

}  // namespace tessera::settings

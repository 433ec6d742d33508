#pragma once
/// Difference map and RAAR.

#include <cmath>
#include <vector>

#include "settings/key.hpp"
#include "settings/method.hpp"

namespace tessera::settings {

enum class ProjectionMap { difference_map, raar };

struct Projection {
  ProjectionMap map = ProjectionMap::difference_map;
  double fourier_relaxation = 0;
  double raar_beta = 0.75;
  double settle_fraction = 0.25;
  /// Of the probe's greatest: where less falls, the object goes a part of the way. It has no key.
  double least_power = 1e-2;

  static std::vector<Method<Projection>> methods() {
    const std::vector<Option> excludes{Option::object_modes, Option::opr,       Option::slices,
                                       Option::background,   Option::intensity, Option::fly_scan,
                                       Option::point_spread, Option::noise,     Option::batches};
    return {
        {"dm",
         "Difference map (Thibault et al. 2009, Ultramicroscopy 109, 338), robust from a poor "
         "start. It leaves noise that another method removes.",
         excludes,
         {.map = ProjectionMap::difference_map}},
        {"raar",
         "Relaxed averaged alternating reflections (Luke 2005, Inverse Problems 21, 37): `dm` "
         "with a damper.",
         excludes,
         {.map = ProjectionMap::raar}},
    };
  }

  std::vector<Key> keys() {
    return {
        {.name = "fourier_relaxation",
         .field = &fourier_relaxation,
         .meaning =
             "Patterns whose squared distance to the model's amplitudes is below "
             "fourier_relaxation^2 / 4 of the mean counts are left as they are, others brought to "
             "that distance; with `dm` to 0.7 of the mean distance that the model had in the epoch "
             "before, if that is more.",
         .min = 0,
         .max = 2},
        {.name = "raar_beta",
         .field = &raar_beta,
         .meaning = "1 reflects in full, as `dm` does; less is steadier; 0.5 makes alternating "
                    "projections. It stays for half of the epochs before `settle_fraction`, and "
                    "falls to 0.5 in the others; with 0 of that it stays.",
         .min = 0.5,
         .max = 1,
         .methods = {"raar"}},
        {.name = "settle_fraction",
         .field = &settle_fraction,
         .meaning =
             "The last part of the epochs, in which projections alternate: the map's waves wander "
             "about the solution, and with noise end anywhere around it. 0: the map to the end.",
         .min = 0,
         .max = 1},
    };
  }

  /// Whether `epoch` (from 0) of `n_epochs` is of that part.
  bool settles(int epoch, int n_epochs) const {
    return epoch >= n_epochs - std::lround(settle_fraction * n_epochs);
  }
};

}  // namespace tessera::settings

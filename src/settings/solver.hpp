#pragma once
/// A [[solver]]: what all methods share, and the method's own settings. The list of the methods.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "settings/adam.hpp"
#include "settings/descent.hpp"
#include "settings/key.hpp"
#include "settings/lsqml.hpp"
#include "settings/method.hpp"
#include "settings/pie.hpp"
#include "settings/projection.hpp"

namespace tessera::settings {

/// The method that is no method: a recipe takes its place.
inline constexpr std::string_view automatic = "auto";

/// The settings of every family.
using OwnSettings = std::variant<Pie, Lsqml, Projection, Descent, Adam>;

/// Every method, family by family.
const std::vector<Method<OwnSettings>>& methods();

/// Their names.
std::vector<std::string> method_names();

/// What solver.method may say: these, and the automatic one.
std::vector<std::string> method_words();

/// @param method as in solver.method; allows everything if there is no such method
bool allows(std::string_view method, Option option);

/// solver.batch_coverage of `method` where a deck does not say it (why: docs/methods/batches.md).
/// @param scan_coverage how often all windows cover what any of them holds
double default_batch_coverage(std::string_view method, double scan_coverage);
/// In words, of all methods.
std::string default_batch_coverages();

/// The methods with that key of their own; none: nothing has it, or all have.
std::vector<std::string> methods_with_key(std::string_view name);

/// Whether this value of solver.noise leaves it to the patterns, or to the epochs.
inline bool noise_is_open(std::string_view noise) {
  return noise == "auto";
}

struct Solver {
  std::string method = "rpie";
  int epochs = 100;
  std::optional<int> batch_size = {};  ///< the plan of a run has it for every solver
  std::optional<double> batch_coverage = {};
  std::string batch_order = "spread";
  std::uint64_t seed = 1;
  int probe_start_epoch = 0;
  int orthogonalise_every = 1;
  std::string noise = "auto";
  OwnSettings own = {};  ///< of the family of `method`

  /// The defaults of `method`, which is one of methods() or automatic.
  static Solver of(std::string_view method);

  /// What stands for this one if it is automatic: methods and steps that hold without tuning.
  /// Why these, and what thick samples have of their own: docs/methods/automatic.md.
  std::vector<Solver> recipe(bool has_slices) const;

  /// Positions of a batch among `n`.
  int max_in_batch(int n) const {
    const int size = batch_size.value_or(0);
    return size == 0 ? n : std::min(n, size);
  }

  std::vector<Key> shared_keys() {
    return {
        {.name = "method",
         .field = &method,
         .meaning =
             "How object and probe are found; the methods are listed below. `auto` is two in "
             "turn: `lsqml`, and `ml` for the last half of the epochs, or, with slices, the last "
             "quarter, 25 at most.",
         .choices = method_words()},
        {.name = "epochs",
         .field = &epochs,
         .meaning = "Passes over all scan positions.",
         .min = 1,
         .max = 1000000},
        {.name = "batch_size",
         .field = &batch_size,
         .meaning =
             "Positions updated together, over all ranks; 0: all, which is the default of methods "
             "that need it. `auto`: as many as batch_coverage makes. The answer does not depend on "
             "the number of ranks.",
         .min = 0,
         .max = 1e9,
         .none = "auto"},
        {.name = "batch_coverage",
         .field = &batch_coverage,
         .meaning = "How often the windows of a batch would cover what all windows cover: the "
                    "measure of batch_size that goes with scans of every size, and excludes it. "
                    "`auto`: " +
                    default_batch_coverages() +
                    ". Less needs fewer epochs, more keeps more GPUs busy.",
         .min = 0.001,
         .max = 1e6,
         .none = "auto"},
        {.name = "batch_order",
         .field = &batch_order,
         .meaning =
             "`spread` deals out neighbours to different batches, so that a batch covers the "
             "sample evenly, shifts its probes to few bins, and every rank has its share; "
             "`random` deals anew in every epoch; `compact` keeps neighbours together.",
         .choices = {"spread", "random", "compact"}},
        {.name = "seed",
         .field = &seed,
         .meaning = "Seed of every random choice of the reconstruction.",
         .min = 0,
         .max = 4294967295.0},
        {.name = "probe_start_epoch",
         .field = &probe_start_epoch,
         .meaning = "Epochs before the probe is updated, so that it does not take up the features "
                    "of an object that is still missing.",
         .min = 0,
         .max = 1000000},
        {.name = "orthogonalise_every",
         .field = &orthogonalise_every,
         .meaning = "Epochs between making the probe modes orthogonal and sorting them by power; "
                    "0: never.",
         .min = 0,
         .max = 1000000},
        {.name = "noise",
         .field = &noise,
         .meaning =
             "What the gradient solvers minimise: the difference of `amplitude`s (steady), of the "
             "`intensity` weighted by its variance, or the `poisson` likelihood, for few counts. "
             "`auto`: `amplitude`, and of whole counts `poisson` from the first epoch on whose "
             "error is below 1.05 times what Poisson's noise alone leaves, unless a little light, "
             "the same in all patterns, lies in dark pixels; below 10 counts a pixel, where all "
             "errors are near that, `poisson` from the start if dark pixels are dark or hold what "
             "the sample scatters there. In place of `poisson` `intensity` where a background "
             "leaves 0.25 to 1 counts in dark pixels. `dm` and `raar` take amplitudes, which they "
             "stabilise (Freeman & Tukey 1950) where others change.",
         .choices = {"auto", "amplitude", "intensity", "poisson"}},
    };
  }
  /// Those of `method` alone; of the automatic one none.
  std::vector<Key> own_keys();
  std::vector<Key> keys() { return joined({shared_keys(), own_keys()}); }

  /// @param section of the deck, for messages
  /// @throws InputError
  void check(const std::string& section) const;
};

}  // namespace tessera::settings

#pragma once
/// Maximum likelihood over the whole scan: conjugate gradient and L-BFGS.

#include <vector>

#include "settings/method.hpp"
#include "settings/steps.hpp"

namespace tessera::settings {

struct Descent {
  Steps steps = {};  ///< of the two, the ratio counts
  Alphas alphas = {};
  int lbfgs_history = 0;  ///< 0: conjugate gradient

  static std::vector<Method<Descent>> methods() {
    return {
        {"ml",
         "Maximum likelihood by conjugate gradients over the whole scan, with a line search "
         "(Thibault & Guizar-Sicairos 2012, New J. Phys. 14, 063004).",
         {Option::batches}},
        {"lbfgs", "The same by limited-memory BFGS.", {Option::batches}, {.lbfgs_history = 8}},
    };
  }

  std::vector<Key> keys() {
    return joined({steps.keys(),
                   alphas.keys(),
                   {{.name = "lbfgs_history",
                     .field = &lbfgs_history,
                     .meaning = "Past steps that are remembered; each costs twice the memory of "
                                "object and probe.",
                     .min = 1,
                     .max = 100,
                     .methods = {"lbfgs"}}}});
  }
};

}  // namespace tessera::settings

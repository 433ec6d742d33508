#pragma once
/// From a simulated scan to figures of how well it is recovered.

#include "analysis/compare.hpp"
#include "run/run.hpp"
#include "support/world.hpp"

namespace tessera::testing {

/// The deck's scan, which has been simulated, after `n_epochs` against its truth. Collective.
inline analysis::Comparison compared_with_truth(const deck::Deck& deck, int n_epochs) {
  run::Run run(deck, world(), Log(false));
  for (int epoch = 0; epoch < n_epochs; ++epoch) run.run_epoch();
  run.write_result(run.measure(), "done");
  world().barrier();
  return analysis::compare_files(deck.output.file, deck.data.file, world());
}

}  // namespace tessera::testing

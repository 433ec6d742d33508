#pragma once
/// Patterns that contradict those around them: a shutter that was closed, an image that was read
/// twice, a position that the stage never reached.

#include <vector>

#include "tessera/comm/communicator.hpp"

#include "run/pattern_errors.hpp"
#include "run/scan.hpp"

namespace tessera::run {

/// A look is due after `n_epochs`. From the deck and the epochs alone, so that a run that was
/// resumed looks when the whole one does.
bool bad_patterns_are_due(const deck::Deck& deck, int n_epochs, int n_epochs_left);

/// The scan positions, ascending, whose errors stand out from those of the whole scan and of the
/// nearest positions; none if that many do that they are no exception. The same on all ranks.
/// Why these figures: docs/methods/data.md. Collective.
std::vector<int> find_bad_patterns(const Scan& scan, const PatternErrors& errors,
                                   const comm::Communicator& comm);

}  // namespace tessera::run

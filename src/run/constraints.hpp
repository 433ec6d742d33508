#pragma once
/// From the deck's [constraints] to solvers::Constraints.

#include "tessera/run/scan.hpp"
#include "tessera/deck/deck.hpp"
#include "tessera/solvers/constraints.hpp"

namespace tessera::run {

/// @param counts_per_pattern the probe's power where the deck names none
solvers::ConstraintOptions constraint_options(const deck::Deck& deck, double counts_per_pattern);

/// @param scan of which corners are used as long as this lives
solvers::ConstrainedTile constrained_tile(const Scan& scan, int n_probe_images);

/// How far tiles reach past their windows: for stencils, and for windows that move by up to
/// `reach_px`.
int tile_margin_px(const deck::Deck& deck, int reach_px);

}  // namespace tessera::run

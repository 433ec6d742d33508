#pragma once
/// What a deck's solvers leave to the patterns.

#include <string>

#include "deck/deck.hpp"
#include "run/scan.hpp"

namespace tessera::run {

/// Settles what is open in the solvers of the plan: noise by counts (few_counts.hpp), steps of
/// `adam` by how much the sample changes the patterns (docs/methods/adam.md).
void settle_solvers(const deck::Deck& deck, Scan& scan);

/// A step that was settled otherwise than for a weak sample; empty: none.
std::string words_on_steps(const deck::Deck& deck, const Scan& scan);

}  // namespace tessera::run

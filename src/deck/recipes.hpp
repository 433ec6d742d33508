#pragma once
/// What `solver.method = "auto"` stands for.

#include "deck/deck.hpp"

namespace tessera::deck {

/// In place of each automatic solver those of its recipe, and where it is the only one what the
/// deck does not say of background, scale and a beam that changes.
void put_recipes(Deck& deck);

}  // namespace tessera::deck

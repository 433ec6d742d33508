#pragma once
/// Contradictions between keys. A key's own type and range are checked where it is parsed.

#include "tessera/deck/deck.hpp"

namespace tessera::deck {

/// What holds for every deck; `parse` calls it.
/// @throws InputError naming the keys, their values and the remedy (so do the others)
void check(const Deck& deck);

/// What a reconstruction needs besides.
void check_reconstruction(const Deck& deck);

/// What a simulation needs besides.
void check_simulation(const Deck& deck);

}  // namespace tessera::deck

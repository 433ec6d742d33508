#pragma once
/// Contradictions between keys. A key's own type and range are checked where it is parsed.

#include <string>

#include "deck/deck.hpp"

namespace tessera::deck {

/// What holds for every deck; `parse` calls it.
/// @throws InputError naming the keys, their values and the remedy (so do the others)
void check(const Deck& deck);

/// What a reconstruction needs besides.
void check_reconstruction(const Deck& deck);

/// What a simulation needs besides.
void check_simulation(const Deck& deck);

/// That a command which writes the file `path` destroys nothing that it was told of: neither the
/// deck's own file nor that of another key. A run may go on into its own result. Looks at the file
/// system.
/// @param name what holds `path`: a key, or a word of the command line
void check_written_path(Deck deck, const std::string& deck_path, const std::string& name,
                        const std::string& path);

/// A key by which the deck that a result holds is of another reconstruction than the one asked for;
/// empty: none. How a run is computed, saved and ended, how many epochs it has, and what is left to
/// the patterns, may differ.
std::string differing_key(Deck asked, Deck found);

}  // namespace tessera::deck

#pragma once
/// The deck's key table, from the rows of its sections. Parsing, checking, the resolved deck and
/// the reference in docs/deck.md are all made from it.

#include <cstddef>
#include <string>
#include <vector>

#include "deck/deck.hpp"

namespace tessera::deck {

using settings::Key;

/// Every key of `deck`, in the order of the reference. With several solvers each has its keys,
/// those of its method and of no other, in sections named by `solver_section`. What the keys point
/// to is `deck` as it is: not to be used after the solvers or their methods have changed.
std::vector<Key> keys(Deck& deck);

/// "solver" where there is one, else "solver[0]", "solver[1]", ...
std::string solver_section(const Deck& deck, std::size_t stage);

/// docs/deck.md, made from the table and the defaults.
std::string reference();

/// One line for every key: default, type and allowed values. For --help.
std::string key_list();

}  // namespace tessera::deck

#pragma once
/// The sections of a deck, in the order of the reference.

#include <string>
#include <vector>

#include "deck/keys.hpp"

namespace tessera::deck {

struct Section {
  std::string name;       ///< empty at the top of the deck
  std::vector<Key> keys;  ///< their names without the section's
};

std::vector<Section> sections(Deck& deck);

}  // namespace tessera::deck

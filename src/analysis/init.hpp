#pragma once
/// `tessera init`: from a file to a deck.

#include <string>

#include "tessera/io/hdf5.hpp"

namespace tessera::analysis {

struct Draft {
  std::string deck;    ///< TOML
  std::string report;  ///< what was seen, warnings, what is to be filled in; lines
};

/// Looks at the scan in `path` and writes down what it says, what its patterns show, and what is
/// missing. On the calling rank alone; reads some hundred patterns.
/// @param deck_path where the deck will lie: its paths start there
/// @param links that are followed, as the deck then says
/// @throws InputError if the file is of no known format or holds no patterns
Draft draft_deck(const std::string& path, const std::string& deck_path,
                 io::Links links = io::Links::beside);

}  // namespace tessera::analysis

#pragma once
/// What a file says of the scan that it holds, for decks.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/box.hpp"

namespace tessera::io {

/// A key of a deck.
struct Statement {
  std::string key;    ///< "experiment.energy_eV"
  std::string value;  ///< as TOML
  std::string from;   ///< where the file says it, for a comment
};

struct ScanDescription {
  std::string what;      ///< "CXI file written by PyNX"
  std::string patterns;  ///< datasets; empty: none
  std::string positions;
  std::string positions_file;                                ///< if another
  std::optional<std::array<int, 2>> positions_columns = {};  ///< of y and x
  Vec2 positions_scale{1, 1};
  std::string valid_pixels;  ///< 1 = trust
  std::string bad_pixels;    ///< 0 = trust
  std::uint32_t harmless_bits = 0;
  std::string background;
  std::string probe;
  std::string probe_file;
  bool has_frames_last = false;       ///< patterns are (y, x, position)
  bool is_cornered = false;           ///< zero frequency at [0, 0]
  std::vector<Statement> statements;  ///< whatever else a deck has keys for
  std::vector<std::string> warnings;  ///< one line each, with what to do
};

}  // namespace tessera::io

#pragma once
/// A result on a terminal: characters in place of pictures.

#include <string>

namespace tessera::analysis {

/// What the terminal can show.
struct Terminal {
  int columns = 80;
  bool has_colours = false;  ///< 256 of them; else shades of four characters
};

/// Phase and amplitude of the object (illuminated box, ramp removed, mean phase 0) beside one
/// another, and the error of every epoch on a logarithmic axis. On the calling rank alone.
/// @throws InputError if the file is no result
std::string terminal_view(const std::string& path, const Terminal& terminal);

}  // namespace tessera::analysis

#pragma once
/// What is known of the pixels that are read of every pattern.

#include <cstdint>
#include <vector>

#include "framing.hpp"
#include "io/scan_reader.hpp"

namespace tessera::io {

/// Of Framing::needed(), row by row, as the file has them.
struct RecordedPixels {
  RecordedPixels(const Framing& framing, const ScanInfo& info, bool in_near_field);

  ImageStack<std::uint8_t> trusted;  ///< 1: part of a pixel that is valid in every pattern
  ImageStack<std::uint8_t>
      in_beam;                      ///< 1: so near to the zero frequency that the beam may be sharp
  std::vector<std::int64_t> pixel;  ///< of the pattern that it is a part of; -1: none
};

}  // namespace tessera::io

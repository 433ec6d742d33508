#pragma once
/// How many threads make ready what has been read.

#include <cstddef>

#include "base/thread.hpp"

namespace tessera::io {

/// Less is not worth a thread.
inline constexpr std::size_t least_shared_bytes = std::size_t{1} << 20;

inline int decoding_threads(std::size_t n_bytes) {
  return n_bytes < least_shared_bytes ? 1 : processors();
}

}  // namespace tessera::io

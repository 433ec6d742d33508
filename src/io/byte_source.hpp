#pragma once
/// Bytes of a file by their place in what they unpack to.

#include <cstdint>

namespace tessera::io {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// `n` bytes from `at` on. @throws InputError for damaged bytes, or fewer than that
  virtual void read(std::int64_t at, std::int64_t n, void* to) = 0;
};

}  // namespace tessera::io

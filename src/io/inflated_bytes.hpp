#pragma once
/// Bytes of a file that zlib has deflated, by their place in what they were before.

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include <zlib.h>

#include "byte_source.hpp"

namespace tessera::io {

/// A part of a file that zlib has deflated.
struct Deflated {
  std::int64_t first_byte = 0;
  std::int64_t n_bytes = 0;
};

class InflatedBytes final : public ByteSource {
 public:
  /// @param first, n_bytes of the deflated bytes in the file
  InflatedBytes(const std::string& path, std::int64_t first, std::int64_t n_bytes);
  ~InflatedBytes() override;
  InflatedBytes(const InflatedBytes&) = delete;
  InflatedBytes& operator=(const InflatedBytes&) = delete;

  /// In ascending order each is inflated once; going back begins anew.
  void read(std::int64_t at, std::int64_t n, void* to) override;

 private:
  void begin();
  /// The next `n` bytes.
  void inflate_to(unsigned char* to, std::int64_t n);
  void refill();

  std::string path_;
  std::ifstream file_;
  std::int64_t first_;
  std::int64_t n_bytes_;
  std::int64_t left_ = 0;  ///< of the deflated bytes, not read yet
  std::int64_t at_ = 0;    ///< inflated so far
  z_stream stream_{};
  std::vector<unsigned char> deflated_;
};

}  // namespace tessera::io

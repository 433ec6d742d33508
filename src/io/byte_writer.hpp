#pragma once
/// A binary file that is written from its beginning to its end, little endian.

#include <bit>
#include <concepts>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

namespace tessera::io {

static_assert(std::endian::native == std::endian::little);

class ByteWriter {
 public:
  explicit ByteWriter(const std::string& path)
      : path_(path), file_(path, std::ios::binary | std::ios::trunc) {}

  void bytes(std::string_view values) {
    file_.write(values.data(), static_cast<std::streamsize>(values.size()));
    n_ += static_cast<std::int64_t>(values.size());
  }
  template <class T>
  void number(T value) {
    bytes({reinterpret_cast<const char*>(&value), sizeof value});
  }
  /// Zeros up to a multiple of `n`.
  void fill_to(std::int64_t n) {
    while (n_ % n != 0) number(std::uint8_t{0});
  }
  std::int64_t n_bytes() const { return n_; }
  /// @throws SystemError if anything did not reach the file
  void close() {
    file_.close();
    if (!file_) throw SystemError(text("writing \"", path_, "\" failed; is the disk full?"));
  }

 private:
  std::string path_;
  std::ofstream file_;
  std::int64_t n_ = 0;
};

}  // namespace tessera::io

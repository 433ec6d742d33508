#pragma once
/// The tree of named numbers that a DigitalMicrograph file is (Gatan; versions 3 and 4).

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "number_type.hpp"

namespace tessera::io {

/// A number, or an array of numbers.
struct DmTag {
  NumberType type;
  std::int64_t first_byte = 0;  ///< in the file
  std::int64_t count = 1;
};

class DmTags {
 public:
  /// Reads names and numbers, not what arrays hold. @throws InputError for a damaged file
  explicit DmTags(const std::string& path);

  /// "ImageList/1/ImageData/DataType"; tags without a name are called by their number, from 0.
  const DmTag* find(const std::string& name) const;
  /// Whether a tag's name begins so.
  bool has_any(const std::string& beginning) const;
  std::optional<double> number(const std::string& name) const;
  /// Of an array of UTF-16 units, in UTF-8; empty: there is none.
  std::string words(const std::string& name) const;
  bool is_big_endian() const { return is_big_endian_; }
  [[noreturn]] void fail(const std::string& what) const;

 private:
  friend class DmTagReader;
  std::string path_;
  bool is_big_endian_ = false;
  std::map<std::string, DmTag> tags_;
};

}  // namespace tessera::io

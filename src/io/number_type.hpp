#pragma once
/// Types of numbers in files of plain bytes.

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "io/scan_reader.hpp"

namespace tessera::io {

struct NumberType {
  char kind = 'u';  ///< as NumPy has it: u, i, f, c, b
  int bytes = 1;
  bool big_endian = false;
};

/// Of each number's parts: a complex one has two.
inline NumberType part_type(const NumberType& type) {
  return type.kind == 'c' ? NumberType{'f', type.bytes / 2, type.big_endian} : type;
}

/// Calls `use` with a value of that type. @throws InputError for one that is not read
template <class Use>
void with_number(const NumberType& type, Use&& use) {
  switch (type.bytes > 0 && type.bytes < 100 ? type.kind * 100 + type.bytes : 0) {
    case 'b' * 100 + 1:
    case 'u' * 100 + 1:
      return use(std::uint8_t{});
    case 'u' * 100 + 2:
      return use(std::uint16_t{});
    case 'u' * 100 + 4:
      return use(std::uint32_t{});
    case 'u' * 100 + 8:
      return use(std::uint64_t{});
    case 'i' * 100 + 1:
      return use(std::int8_t{});
    case 'i' * 100 + 2:
      return use(std::int16_t{});
    case 'i' * 100 + 4:
      return use(std::int32_t{});
    case 'i' * 100 + 8:
      return use(std::int64_t{});
    case 'f' * 100 + 4:
      return use(float{});
    case 'f' * 100 + 8:
      return use(double{});
    default:
      throw InputError(text("its values are of type '", type.kind, type.bytes,
                            "'; whole numbers of 1 to 8 bytes and floats of 4 and 8 are read"));
  }
}

/// The number that begins at `bytes`.
template <class T>
T number_at(const std::byte* bytes, bool big_endian) {
  T value;
  std::byte turned[sizeof(T)];
  if (big_endian) {
    for (std::size_t i = 0; i < sizeof(T); ++i) turned[i] = bytes[sizeof(T) - 1 - i];
    bytes = turned;
  }
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

/// In which every value fits; f32 for all that patterns are not kept in.
inline PatternType pattern_type(const NumberType& type) {
  const bool is_unsigned = type.kind == 'u' || type.kind == 'b';
  if (is_unsigned && type.bytes == 1) return PatternType::u8;
  if (is_unsigned && type.bytes == 2) return PatternType::u16;
  if (is_unsigned && type.bytes == 4) return PatternType::u32;
  return PatternType::f32;
}

}  // namespace tessera::io

// MATLAB 5 files (MathWorks, MAT-File Format): elements of a type, a size and values, padded to 8
// bytes.

#include <algorithm>

#include "byte_writer.hpp"
#include "exports.hpp"

namespace tessera::io {
namespace {

enum Type : std::uint32_t { int8 = 1, int32 = 5, uint32 = 6, double64 = 9, matrix = 14 };
constexpr std::uint32_t class_double = 6;
constexpr std::uint32_t is_complex_flag = 0x800;

/// Rows first: (n, y, x) is (y, x, n), (1, y, x) is (y, x); MATLAB has two axes at least.
Extents matlab_extents(const NamedArray& array) {
  Extents extents = array.extents;
  if (extents.size() == 3) extents = {extents[1], extents[2], extents[0]};
  if (extents.size() == 3 && extents.back() == 1) extents.pop_back();
  while (extents.size() < 2) extents.push_back(1);
  return extents;
}

/// From C order to MATLAB's, whose first axis is the fastest.
std::vector<double> in_matlab_order(const NamedArray& array, const std::vector<double>& values) {
  const Extents& e = array.extents;
  if (e.size() < 2) return values;
  const std::int64_t w = e.back();
  const std::int64_t h = e[e.size() - 2];
  std::vector<double> ordered;
  ordered.reserve(values.size());
  for (std::int64_t first = 0; first < std::ssize(values); first += h * w)
    for (std::int64_t x = 0; x < w; ++x)
      for (std::int64_t y = 0; y < h; ++y)
        ordered.push_back(values[static_cast<std::size_t>(first + y * w + x)]);
  return ordered;
}

std::int64_t padded(std::int64_t n) {
  return (n + 7) / 8 * 8;
}

void write_tag(ByteWriter& file, Type type, std::int64_t n_bytes) {
  file.number<std::uint32_t>(type);
  file.number(static_cast<std::uint32_t>(n_bytes));
}

void write_doubles(ByteWriter& file, const std::vector<double>& values) {
  write_tag(file, double64, 8 * std::ssize(values));
  file.bytes({reinterpret_cast<const char*>(values.data()), 8 * values.size()});
}

void write_array(ByteWriter& file, const NamedArray& array) {
  const Extents extents = matlab_extents(array);
  const bool is_complex = !array.imaginary.empty();
  const std::int64_t n_bytes = 16 + 8 + padded(4 * std::ssize(extents)) + 8 +
                               padded(std::ssize(array.name)) +
                               (is_complex ? 2 : 1) * (8 + 8 * std::ssize(array.real));
  if (n_bytes > INT32_MAX)
    throw InputError(text(array.name, " of ", n_bytes,
                          " bytes is more than a MATLAB 5 array holds, 2 GiB; write .npz or .cxi"));
  write_tag(file, matrix, n_bytes);
  write_tag(file, uint32, 8);
  file.number(class_double | (is_complex ? is_complex_flag : 0));
  file.number(std::uint32_t{0});
  write_tag(file, int32, 4 * std::ssize(extents));
  for (const std::int64_t n : extents) file.number(static_cast<std::int32_t>(n));
  file.fill_to(8);
  write_tag(file, int8, std::ssize(array.name));
  file.bytes(array.name);
  file.fill_to(8);
  write_doubles(file, in_matlab_order(array, array.real));
  if (is_complex) write_doubles(file, in_matlab_order(array, array.imaginary));
}

}  // namespace

void write_mat(const std::string& path, const std::vector<NamedArray>& arrays) {
  ByteWriter file(path);
  std::string words = "MATLAB 5.0 MAT-file, written by Tessera";
  words.resize(124, ' ');
  file.bytes(words);
  file.number(std::uint16_t{0x0100});
  file.bytes("IM");
  for (const NamedArray& array : arrays) write_array(file, array);
  file.close();
}

}  // namespace tessera::io

#include "array_file.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>
#include <sstream>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "hdf5_handle.hpp"
#include "hdf5_slab.hpp"
#include "numpy_file.hpp"
#include "readable_file.hpp"

namespace tessera::io {
namespace {

std::vector<std::byte> read_bytes(const std::string& path, std::int64_t first, std::int64_t n) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(n));
  std::ifstream file(path, std::ios::binary);
  file.seekg(first);
  if (!file.read(reinterpret_cast<char*>(bytes.data()), n))
    throw InputError(text('"', path, "\" cannot be read"));
  return bytes;
}

/// Parts of complex numbers, one after another, count as two values each.
std::vector<double> numpy_values(const std::string& path, const NumpyArray& array) {
  const NumberType part = part_type(array.type);
  const std::int64_t n = n_elements(array.extents) * (array.type.bytes / part.bytes);
  const std::vector<std::byte> bytes = read_bytes(path, array.first_byte, n * part.bytes);
  std::vector<double> values(static_cast<std::size_t>(n));
  with_number(part, [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<double>(number_at<T>(bytes.data() + i * sizeof(T), part.big_endian));
  });
  return values;
}

/// The numbers of a line; nothing if one of its words is none.
std::optional<std::vector<double>> numbers_of(std::string line) {
  std::ranges::replace_if(line, [](char c) { return c == ',' || c == ';' || c == '\t'; }, ' ');
  std::istringstream words(line);
  std::vector<double> numbers;
  for (std::string word; words >> word;) {
    char* end = nullptr;
    numbers.push_back(std::strtod(word.c_str(), &end));
    if (*end != '\0') return {};
  }
  return numbers;
}

/// Lines that begin with # or %, empty lines and headings before the first numbers are left out.
Array read_text_table(const std::string& path) {
  std::ifstream file(path);
  Array table;
  std::size_t n_columns = 0;
  std::string line;
  for (int n_line = 1; std::getline(file, line); ++n_line) {
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos || line[first] == '#' || line[first] == '%') continue;
    if (line.back() == '\r') line.pop_back();
    const auto numbers = numbers_of(line);
    if (!numbers && table.values.empty()) continue;
    if (!numbers || (n_columns > 0 && numbers->size() != n_columns))
      throw InputError(text('"', path, "\", line ", n_line, ": \"", line.substr(0, 40),
                            "\" is not ", n_columns, " numbers as the lines before"));
    n_columns = numbers->size();
    table.values.insert(table.values.end(), numbers->begin(), numbers->end());
  }
  if (n_columns == 0)
    throw InputError(text('"', path,
                          "\" holds no columns of numbers; it must be text, HDF5 or "
                          "NumPy"));
  table.extents = {std::ssize(table.values) / static_cast<std::int64_t>(n_columns),
                   static_cast<std::int64_t>(n_columns)};
  return table;
}

/// (columns, position), two or three of them, is the other order of a table.
Array as_rows(Array table) {
  const Extents e = table.extents;
  if (e.size() != 2 || e[0] < 2 || e[0] > 3 || e[1] <= 3) return table;
  Array rows{{e[1], e[0]}, {}};
  for (std::int64_t row = 0; row < e[1]; ++row)
    for (std::int64_t column = 0; column < e[0]; ++column)
      rows.values.push_back(table.values[static_cast<std::size_t>(column * e[1] + row)]);
  return rows;
}

bool is_any_numpy(const std::string& path) {
  return is_numpy(path) || is_numpy_archive(path);
}

}  // namespace

std::string shape_text(const Extents& extents) {
  std::vector<std::string> sizes;
  for (const std::int64_t n : extents) sizes.push_back(text(n));
  return text('(', joined(sizes), ')');
}

Array read_array(const std::string& path, const std::string& name, Links links) {
  check_readable(path);
  if (is_hdf5(path)) {
    const File file = File::open(path, links);
    return {file.info(name).extents, file.read_doubles(name)};
  }
  if (!is_any_numpy(path)) return read_text_table(path);
  const NumpyArray array = find_numpy_array(path, name);
  if (array.type.kind == 'c')
    throw InputError(text('"', path, "\" holds complex numbers; real ones are needed"));
  return {array.extents, numpy_values(path, array)};
}

WaveStack read_probe_file(const std::string& path, const std::string& name) {
  check_readable(path);
  if (!is_any_numpy(path)) return File::open(path).read_waves(name);
  const NumpyArray array = find_numpy_array(path, name);
  const std::size_t n_axes = array.extents.size();
  if (n_axes < 2)
    throw InputError(text('"', path, "\": shape ", shape_text(array.extents),
                          "; a probe is (y, x) or (mode, y, x)"));
  const std::vector<double> values = numpy_values(path, array);
  const Shape2 shape{static_cast<int>(array.extents[n_axes - 2]),
                     static_cast<int>(array.extents[n_axes - 1])};
  WaveStack probe(
      static_cast<int>(n_elements(array.extents) / std::max<std::int64_t>(1, shape.size())), shape);
  const std::size_t n_parts = array.type.kind == 'c' ? 2 : 1;
  for (std::size_t i = 0; i < probe.size(); ++i)
    probe.data()[i] = {values[n_parts * i], n_parts == 2 ? values[2 * i + 1] : 0};
  return probe;
}

std::vector<std::string> listed_names(const std::string& names) {
  std::vector<std::string> found;
  std::istringstream in(names);
  for (std::string name; std::getline(in, name, ',');) {
    name.erase(0, name.find_first_not_of(' '));
    name.erase(name.find_last_not_of(' ') + 1);
    found.push_back(name);
  }
  return found;
}

std::vector<Vec2> positions_of(std::vector<Array> arrays, const ScanSource& source) {
  if (arrays.size() == 1) arrays[0] = as_rows(std::move(arrays[0]));
  const auto [y, x] = source.positions_columns.value_or(std::array{0, 1});
  const bool is_one = arrays.size() == 1;
  const Array& first = arrays.front();
  const Array& last = arrays.back();
  const std::int64_t n_columns = first.extents.size() == 2 ? first.extents[1] : 0;
  if (arrays.size() > 2)
    throw InputError(text(arrays.size(),
                          " names; it must be one dataset (position, 2), or two, "
                          "of y and of x"));
  if (is_one && std::max(y, x) >= n_columns)
    throw InputError(text("shape ", shape_text(first.extents), "; it must be (position, ",
                          std::max(2, std::max(y, x) + 1),
                          "): y, x in metres, or other columns and units with "
                          "data.positions_columns and data.positions_scale"));
  if (is_one && n_columns != 2 && !source.positions_columns)
    throw InputError(text("shape ", shape_text(first.extents),
                          "; it must be (position, 2): y, x in metres; say which columns are y and "
                          "x in data.positions_columns"));
  if (!is_one && first.values.size() != last.values.size())
    throw InputError(text(first.values.size(), " values of y and ", last.values.size(),
                          " of x; there must be as many"));
  const auto columns = static_cast<std::size_t>(is_one ? n_columns : 1);
  std::vector<Vec2> positions(first.values.size() / columns);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const std::size_t row = i * columns;
    positions[i] = {first.values[row + static_cast<std::size_t>(is_one ? y : 0)],
                    last.values[row + static_cast<std::size_t>(is_one ? x : 0)]};
    positions[i].y *= source.positions_scale.y;
    positions[i].x *= source.positions_scale.x;
  }
  return positions;
}

std::vector<Vec2> read_positions_file(const ScanSource& source) {
  std::vector<Array> arrays;
  for (const std::string& name : listed_names(*source.positions))
    arrays.push_back(read_array(source.positions_file, name, source.links));
  return positions_of(arrays, source);
}

ImageStack<double> images_of(const Array& array, Shape2 shape) {
  const Extents& extents = array.extents;
  const std::size_t n_axes = extents.size();
  if (n_axes < 2 || n_axes > 3 || extents[n_axes - 2] != shape.h || extents[n_axes - 1] != shape.w)
    throw InputError(text("shape ", shape_text(extents), "; it must be that of a pattern, (",
                          shape.h, ", ", shape.w, "), or (n, ", shape.h, ", ", shape.w, ')'));
  ImageStack<double> images(n_axes == 3 ? static_cast<int>(extents[0]) : 1, shape);
  std::ranges::copy(array.values, images.begin());
  return images;
}

ImageStack<double> trusted_pixels(const ImageStack<double>& bad, std::uint32_t harmless) {
  ImageStack<double> trusted(bad.n(), bad.shape());
  std::ranges::transform(bad, trusted.begin(), [&](double flags) {
    return (static_cast<std::uint64_t>(std::llround(flags)) & ~std::uint64_t{harmless}) == 0;
  });
  return trusted;
}

}  // namespace tessera::io

#include "numpy_file.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <vector>

#include "readable_file.hpp"

namespace tessera::io {
namespace {

constexpr std::string_view numpy_magic("\x93NUMPY", 6);
constexpr std::string_view zip_magic("PK\x03\x04", 4);

/// As many of `n` as the file has there.
std::string bytes_at(std::ifstream& file, std::int64_t first, std::int64_t n) {
  file.clear();
  file.seekg(0, std::ios::end);
  const std::int64_t n_bytes = file.tellg();
  if (first < 0 || first > n_bytes) return {};
  std::string bytes(static_cast<std::size_t>(std::min(n, n_bytes - first)), '\0');
  file.seekg(first);
  file.read(bytes.data(), std::ssize(bytes));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

template <class T>
std::int64_t whole_number(const std::string& bytes, std::size_t at) {
  if (at + sizeof(T) > bytes.size()) throw InputError("it is cut short; copy or write it again");
  return static_cast<std::int64_t>(
      number_at<T>(reinterpret_cast<const std::byte*>(bytes.data()) + at, false));
}

/// What stands behind 'key': in the header's dictionary.
std::string entry(const std::string& header, const std::string& key, const std::string& open,
                  const std::string& close) {
  const std::size_t at = header.find("'" + key + "'");
  const std::size_t begin = at == std::string::npos ? at : header.find(open, at + key.size() + 2);
  const std::size_t end =
      begin == std::string::npos ? begin : header.find(close, begin + open.size());
  if (end == std::string::npos)
    throw InputError(text("its NumPy header has no ", key, "; write it with numpy.save"));
  return header.substr(begin + open.size(), end - begin - open.size());
}

NumberType type_of(const std::string& word) {
  if (word.size() < 3 || std::string_view("<>|=").find(word[0]) == std::string_view::npos)
    throw InputError(text("its NumPy type '", word, "' is not a number's"));
  const NumberType type{word[1], std::atoi(word.c_str() + 2), word[0] == '>'};
  with_number(part_type(type), [](auto) {});  // throws if it cannot
  return type;
}

Extents extents_of(const std::string& words) {
  Extents extents;
  std::istringstream in(words);
  for (std::string word; std::getline(in, word, ',');) {
    const std::size_t begin = word.find_first_not_of(' ');
    if (begin == std::string::npos) continue;
    std::int64_t extent = -1;
    std::from_chars(word.data() + begin, word.data() + word.size(), extent);
    if (extent < 0 || extent > std::numeric_limits<int>::max())
      throw InputError(text("its NumPy header says shape (", words, "), each from 0 to ",
                            std::numeric_limits<int>::max()));
    extents.push_back(extent);
  }
  return extents;
}

NumpyArray array_at(std::ifstream& file, std::int64_t first) {
  const std::string start = bytes_at(file, first, 12);
  if (!start.starts_with(numpy_magic)) throw InputError("it holds no NumPy array");
  const bool is_long = start[6] > 1;
  const std::int64_t n =
      is_long ? whole_number<std::uint32_t>(start, 8) : whole_number<std::uint16_t>(start, 8);
  const std::int64_t header_at = first + (is_long ? 12 : 10);
  const std::string header = bytes_at(file, header_at, n);
  NumpyArray array;
  array.type = type_of(entry(header, "descr", "'", "'"));
  array.extents = extents_of(entry(header, "shape", "(", ")"));
  array.first_byte = header_at + n;
  if (entry(header, "fortran_order", ":", ",").find("True") != std::string::npos)
    throw InputError("it is in Fortran order; write it with numpy.ascontiguousarray");
  return array;
}

void check_whole(const NumpyArray& array, const std::string& path) {
  // In floating point, for what a header says may be beyond 64 bits.
  const double needed =
      std::accumulate(array.extents.begin(), array.extents.end(),
                      static_cast<double>(array.type.bytes), std::multiplies<>()) +
      static_cast<double>(array.first_byte);
  const auto there = static_cast<double>(std::filesystem::file_size(path));
  if (there < needed)
    throw InputError(
        text("it is cut short, at ", there, " of ", needed, " bytes; copy or write it again"));
}

struct Member {
  std::string name;
  bool is_compressed = false;
  std::int64_t header_at = 0;
};

/// 64-bit values that the directory's 32 bits cannot hold stand in an extra field, in order: here
/// that of where the member is, after those of its sizes.
std::int64_t long_header_at(const std::string& list, std::size_t at, std::size_t extra) {
  std::size_t value = extra + 4;
  for (const std::size_t size : {24, 20})
    if (whole_number<std::uint32_t>(list, at + size) == 0xffffffff) value += 8;
  return whole_number<std::uint64_t>(list, value);
}

/// An archive's directory is at its end (PKWARE, .ZIP File Format Specification, 4.3).
std::vector<Member> members_of(std::ifstream& file, const std::string& path) {
  const auto n_bytes = static_cast<std::int64_t>(std::filesystem::file_size(path));
  const std::int64_t tail = std::min<std::int64_t>(n_bytes, 1 << 16);
  const std::string end = bytes_at(file, n_bytes - tail, tail);
  const std::size_t record = end.rfind("PK\x05\x06");
  if (record == std::string::npos)
    throw InputError(text("the archive \"", path, "\" is cut short; copy or write it again"));
  const std::int64_t n_members = whole_number<std::uint16_t>(end, record + 10);
  const std::string list = bytes_at(file, whole_number<std::uint32_t>(end, record + 16),
                                    whole_number<std::uint32_t>(end, record + 12));
  std::vector<Member> members;
  std::size_t at = 0;
  const auto short_number = [&](std::size_t offset) {
    return static_cast<std::size_t>(whole_number<std::uint16_t>(list, at + offset));
  };
  for (std::int64_t i = 0; i < n_members; ++i) {
    const std::size_t n_name = short_number(28);
    const std::int64_t header_at = whole_number<std::uint32_t>(list, at + 42);
    Member member{list.substr(at + 46, n_name), short_number(10) != 0, header_at};
    if (member.header_at == 0xffffffff)
      member.header_at = long_header_at(list, at, at + 46 + n_name);
    if (member.name.ends_with(".npy")) member.name.resize(member.name.size() - 4);
    members.push_back(member);
    at += 46 + n_name + short_number(30) + short_number(32);
  }
  return members;
}

/// Where the array begins.
std::int64_t member_at(std::ifstream& file, const std::string& path, const std::string& name) {
  std::vector<std::string> names;
  for (const Member& member : members_of(file, path)) {
    names.push_back(member.name);
    if (member.name != name) continue;
    if (member.is_compressed)
      throw InputError(text("array \"", name,
                            "\" is compressed; write it with numpy.savez, not savez_compressed"));
    const std::string header = bytes_at(file, member.header_at, 30);
    return member.header_at + 30 + whole_number<std::uint16_t>(header, 26) +
           whole_number<std::uint16_t>(header, 28);
  }
  throw InputError(text("it has no array \"", name, "\"; it has ", joined(names)));
}

bool begins_with(const std::string& path, std::string_view magic) {
  std::ifstream file(path, std::ios::binary);
  return bytes_at(file, 0, std::ssize(magic)) == magic;
}

}  // namespace

bool is_numpy(const std::string& path) {
  return begins_with(path, numpy_magic);
}
bool is_numpy_archive(const std::string& path) {
  return begins_with(path, zip_magic);
}

std::vector<std::string> numpy_names(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::string> names;
  for (const Member& member : members_of(file, path)) names.push_back(member.name);
  return names;
}

NumpyArray find_numpy_array(const std::string& path, const std::string& name) {
  check_readable(path);
  std::ifstream file(path, std::ios::binary);
  try {
    const NumpyArray array =
        array_at(file, is_numpy_archive(path) ? member_at(file, path, name) : 0);
    check_whole(array, path);
    return array;
  } catch (const InputError& error) {
    throw InputError(text('"', path, "\": ", error.what()));
  }
}

}  // namespace tessera::io

#include "dm_tags.hpp"

#include <array>
#include <fstream>
#include <vector>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

namespace tessera::io {
namespace {

// What a tag is.
constexpr int is_group = 20;
constexpr int is_data = 21;

// Types of data that are not numbers.
constexpr std::int64_t structure_type = 15;
constexpr std::int64_t string_type = 18;
constexpr std::int64_t array_type = 20;

/// Bounds that no file of Gatan's comes near, and a damaged one does not pass.
constexpr int max_depth = 64;
constexpr std::int64_t max_definition = 1 << 12;

std::optional<NumberType> number_type(std::int64_t type, bool is_big_endian) {
  constexpr std::array types{NumberType{'i', 2}, NumberType{'i', 4}, NumberType{'u', 2},
                             NumberType{'u', 4}, NumberType{'f', 4}, NumberType{'f', 8},
                             NumberType{'b', 1}, NumberType{'i', 1}, NumberType{'u', 1},
                             NumberType{'i', 8}, NumberType{'u', 8}};  // 2 ... 12
  if (type < 2 || type > 12) return {};
  NumberType found = types[static_cast<std::size_t>(type - 2)];
  found.big_endian = is_big_endian;
  return found;
}

void append_utf8(std::uint16_t unit, std::string& words) {
  if (unit < 0x80) {
    words += static_cast<char>(unit);
  } else if (unit < 0x800) {
    words += static_cast<char>(0xC0 | unit >> 6);
    words += static_cast<char>(0x80 | (unit & 0x3F));
  } else {
    words += static_cast<char>(0xE0 | unit >> 12);
    words += static_cast<char>(0x80 | (unit >> 6 & 0x3F));
    words += static_cast<char>(0x80 | (unit & 0x3F));
  }
}

}  // namespace

/// Goes through the file once. The tree's own numbers are big endian, words of 4 (version 3) or 8
/// bytes; data are in the order that the header says.
class DmTagReader {
 public:
  explicit DmTagReader(DmTags& tags) : tags_(tags), file_(tags.path_, std::ios::binary) {
    file_.seekg(0, std::ios::end);
    end_ = file_.tellg();
    file_.seekg(0);
    const std::int64_t version = whole(4);
    if (version != 3 && version != 4) tags_.fail("it is no DigitalMicrograph file");
    is_long_ = version == 4;
    word();
    tags_.is_big_endian_ = whole(4) == 0;
    read_group("", 0);
  }

 private:
  std::int64_t whole(int n_bytes) {
    std::array<unsigned char, 8> bytes{};
    if (!file_.read(reinterpret_cast<char*>(bytes.data()), n_bytes)) fail_short();
    std::uint64_t value = 0;
    for (int i = 0; i < n_bytes; ++i) value = value << 8 | bytes[static_cast<std::size_t>(i)];
    return static_cast<std::int64_t>(value);
  }
  std::int64_t word() { return whole(is_long_ ? 8 : 4); }
  [[noreturn]] void fail_short() const { tags_.fail("it is cut short; copy or write it again"); }

  void read_group(const std::string& name, int depth) {
    if (depth > max_depth) tags_.fail("its tags are nested too deep; it is damaged");
    whole(2);  // whether it is sorted, and open
    const std::int64_t n_tags = word();
    for (std::int64_t i = 0, nameless = 0; i < n_tags; ++i) {
      const std::int64_t kind = whole(1);
      std::string tag(static_cast<std::size_t>(whole(2)), '\0');
      if (!file_.read(tag.data(), std::ssize(tag))) fail_short();
      if (tag.empty()) tag = text(nameless++);
      if (!name.empty()) tag = text(name, '/', tag);
      if (is_long_) whole(8);  // of bytes, which its definition says again
      if (kind == is_group)
        read_group(tag, depth + 1);
      else if (kind == is_data)
        read_data(tag);
      else
        tags_.fail(text("tag \"", tag, "\" is of kind ", kind, "; it is damaged"));
    }
  }

  void read_data(const std::string& name) {
    std::array<char, 4> mark{};
    if (!file_.read(mark.data(), std::ssize(mark))) fail_short();
    const std::int64_t n = word();
    if (std::string_view(mark.data(), mark.size()) != "%%%%" || n < 1 || n > max_definition)
      tags_.fail(text("tag \"", name, "\" has no definition; it is damaged"));
    std::vector<std::int64_t> definition;
    definition.reserve(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) definition.push_back(word());
    const std::int64_t count = n > 1 && definition[0] != structure_type ? definition.back() : 1;
    const std::int64_t bytes = bytes_of(name, definition, 0);
    const std::int64_t at = file_.tellg();
    if (count < 0 || (bytes > 0 && count > (end_ - at) / bytes)) fail_short();
    const std::int64_t type = definition[0] == array_type && n == 3 ? definition[1] : definition[0];
    if (const auto number = number_type(type, tags_.is_big_endian_))
      tags_.tags_[name] = {*number, at, count};
    file_.seekg(at + count * bytes);
  }

  std::int64_t length_at(const std::string& name, const std::vector<std::int64_t>& definition,
                         std::size_t i) const {
    if (i >= definition.size() || definition[i] < 0 || definition[i] > end_)
      tags_.fail(text("tag \"", name, "\" is damaged"));
    return definition[i];
  }
  /// Of a value, of an array of one element.
  std::int64_t bytes_of(const std::string& name, const std::vector<std::int64_t>& definition,
                        std::size_t i) const {
    if (i >= definition.size()) tags_.fail(text("tag \"", name, "\" is damaged"));
    if (const auto number = number_type(definition[i], false)) return number->bytes;
    if (definition[i] == string_type) return i == 0 ? 2 : 2 * length_at(name, definition, i + 1);
    if (definition[i] == array_type && i == 0) return bytes_of(name, definition, 1);
    if (definition[i] == array_type)
      return bytes_of(name, definition, i + 1) * length_at(name, definition, i + 2);
    if (definition[i] != structure_type || i + 2 >= definition.size())
      tags_.fail(text("tag \"", name, "\" is of type ", definition[i], ", which is not read"));
    const std::int64_t n_fields = length_at(name, definition, i + 2);
    std::int64_t sum = 0;
    for (std::int64_t field = 0; field < n_fields; ++field)
      sum += bytes_of(name, definition, i + 4 + 2 * static_cast<std::size_t>(field));
    return sum;
  }

  DmTags& tags_;
  std::ifstream file_;
  std::int64_t end_ = 0;
  bool is_long_ = false;
};

DmTags::DmTags(const std::string& path) : path_(path) {
  DmTagReader{*this};
}

void DmTags::fail(const std::string& what) const {
  throw InputError(text('"', path_, "\": ", what));
}

const DmTag* DmTags::find(const std::string& name) const {
  const auto found = tags_.find(name);
  return found == tags_.end() ? nullptr : &found->second;
}

bool DmTags::has_any(const std::string& beginning) const {
  const auto next = tags_.lower_bound(beginning);
  return next != tags_.end() && next->first.starts_with(beginning);
}

std::optional<double> DmTags::number(const std::string& name) const {
  const DmTag* tag = find(name);
  if (!tag || tag->count != 1) return {};
  std::array<std::byte, 8> bytes{};
  std::ifstream file(path_, std::ios::binary);
  file.seekg(tag->first_byte);
  if (!file.read(reinterpret_cast<char*>(bytes.data()), tag->type.bytes)) return {};
  double value = 0;
  with_number(tag->type, [&](auto zero) {
    value = static_cast<double>(number_at<decltype(zero)>(bytes.data(), tag->type.big_endian));
  });
  return value;
}

std::string DmTags::words(const std::string& name) const {
  const DmTag* tag = find(name);
  if (!tag || tag->type.bytes != 2 || tag->count > 1 << 12) return "";
  std::vector<std::byte> bytes(2 * static_cast<std::size_t>(tag->count));
  std::ifstream file(path_, std::ios::binary);
  file.seekg(tag->first_byte);
  if (!file.read(reinterpret_cast<char*>(bytes.data()), std::ssize(bytes))) return "";
  std::string words;
  for (std::size_t i = 0; i < bytes.size(); i += 2)
    append_utf8(number_at<std::uint16_t>(bytes.data() + i, tag->type.big_endian), words);
  return words;
}

}  // namespace tessera::io

// Stacks of TIFF images, a page for each pattern (TIFF 6.0, Adobe 1992; BigTIFF), not compressed.

#include <array>
#include <fstream>
#include <map>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "flat_scan.hpp"

namespace tessera::io {
namespace {

enum Tag {
  width = 256,
  height = 257,
  bits = 258,
  compression = 259,
  strip_offsets = 273,
  samples = 277,
  strip_bytes = 279,
  sample_format = 339,
};

/// The fields of a directory, by tag.
using Directory = std::map<int, std::vector<std::int64_t>>;

class TiffFile {
 public:
  explicit TiffFile(const std::string& path) : path_(path), file_(path, std::ios::binary) {
    const std::string start = bytes_at(0, 16);
    is_big_endian_ = start[0] == 'M';
    is_long_ = start[is_big_endian_ ? 3 : 2] == 43;
    next_ = number(start, is_long_ ? 8 : 4, word());
  }

  /// The next page's, until there is none.
  std::optional<Directory> next() {
    if (next_ == 0) return {};
    const int n_count = is_long_ ? 8 : 2;
    const int n_field = is_long_ ? 20 : 12;
    const std::int64_t n_fields = number(bytes_at(next_, n_count), 0, n_count);
    if (n_fields > 4096) fail("a directory of " + text(n_fields) + " fields");
    const std::string list = bytes_at(next_ + n_count, n_fields * n_field + word());
    Directory directory;
    for (std::int64_t i = 0; i < n_fields; ++i) read_field(list, i * n_field, directory);
    next_ = number(list, n_fields * n_field, word());
    return directory;
  }

  bool is_big_endian() const { return is_big_endian_; }
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(text('"', path_, "\": ", what));
  }

 private:
  int word() const { return is_long_ ? 8 : 4; }

  std::string bytes_at(std::int64_t first, std::int64_t n) {
    std::string bytes(static_cast<std::size_t>(n), '\0');
    file_.seekg(first);
    if (!file_.read(bytes.data(), n)) fail("it is cut short; copy or write it again");
    return bytes;
  }
  std::int64_t number(const std::string& bytes, std::int64_t at, int n) const {
    std::int64_t value = 0;
    for (int i = 0; i < n; ++i) {
      const auto place = static_cast<std::size_t>(at + (is_big_endian_ ? i : n - 1 - i));
      value = value * 256 + static_cast<unsigned char>(bytes[place]);
    }
    return value;
  }
  /// Whole numbers alone are of interest. Values that do not fit in a field lie apart.
  void read_field(const std::string& list, std::int64_t at, Directory& directory) {
    const std::int64_t type = number(list, at + 2, 2);
    const int n_bytes = type == 3 ? 2 : type == 4 ? 4 : type == 16 ? 8 : 0;
    const std::int64_t count = number(list, at + 4, word());
    if (n_bytes == 0 || count > 1 << 20) return;
    const std::int64_t value_at = at + 4 + word();
    const bool is_apart = count * n_bytes > word();
    const std::string values = is_apart ? bytes_at(number(list, value_at, word()), count * n_bytes)
                                        : list.substr(static_cast<std::size_t>(value_at));
    auto& field = directory[static_cast<int>(number(list, at, 2))];
    for (std::int64_t i = 0; i < count; ++i) field.push_back(number(values, i * n_bytes, n_bytes));
  }

  std::string path_;
  std::ifstream file_;
  bool is_big_endian_ = false;
  bool is_long_ = false;  ///< BigTIFF
  std::int64_t next_ = 0;
};

std::int64_t value_of(const Directory& page, Tag tag, std::int64_t otherwise) {
  const auto found = page.find(tag);
  return found == page.end() || found->second.empty() ? otherwise : found->second.front();
}

NumberType type_of(const TiffFile& file, const Directory& page) {
  constexpr std::array kinds{'u', 'u', 'i', 'f'};
  const std::int64_t format = value_of(page, sample_format, 1);
  if (format < 0 || format > 3) file.fail("its pixels are not real numbers");
  return {kinds[static_cast<std::size_t>(format)], static_cast<int>(value_of(page, bits, 1)) / 8,
          file.is_big_endian()};
}

/// Its strips must follow one another.
std::int64_t first_byte(const TiffFile& file, const Directory& page) {
  if (value_of(page, compression, 1) != 1 || value_of(page, samples, 1) != 1 ||
      !page.contains(strip_offsets) || !page.contains(strip_bytes))
    file.fail(
        "pages must be grey, not compressed and not in tiles; python3 -c \"import numpy, "
        "tifffile; numpy.save('scan.npy', tifffile.imread('scan.tif'))\" converts it");
  const auto& offsets = page.at(strip_offsets);
  const auto& sizes = page.at(strip_bytes);
  for (std::size_t i = 1; i < std::min(offsets.size(), sizes.size()); ++i)
    if (offsets[i] != offsets[i - 1] + sizes[i - 1])
      file.fail("the strips of a page lie apart; save it as .npy");
  return offsets.front();
}

FlatPatterns tiff_patterns(const ScanSource& source) {
  TiffFile file(source.path);
  FlatPatterns flat{.path = source.path, .type = {}};
  while (const auto page = file.next()) {
    const Shape2 shape{static_cast<int>(value_of(*page, height, 0)),
                       static_cast<int>(value_of(*page, width, 0))};
    if (flat.first_bytes.empty()) {
      flat.shape = shape;
      flat.type = type_of(file, *page);
    }
    if (shape != flat.shape || shape.size() == 0)
      file.fail(text("page ", flat.first_bytes.size(), " of ", shape.h, " x ", shape.w,
                     " pixels after pages of ", flat.shape.h, " x ", flat.shape.w));
    flat.first_bytes.push_back(first_byte(file, *page));
  }
  if (flat.first_bytes.empty()) file.fail("it holds no page");
  flat.n_positions = static_cast<int>(flat.first_bytes.size());
  return flat;
}

bool is_tiff(const ScanSource& source) {
  std::array<char, 4> start{};
  std::ifstream(source.path, std::ios::binary).read(start.data(), 4);
  const std::string_view words(start.data(), 4);
  return words == std::string_view("II*\0", 4) || words == std::string_view("MM\0*", 4) ||
         words == std::string_view("II+\0", 4) || words == std::string_view("MM\0+", 4);
}

}  // namespace

ScanFormat tiff_scans() {
  return {"tiff", "a TIFF file", is_tiff,
          [](const ScanSource& source, const comm::Communicator*) {
            return open_flat_scan(tiff_patterns(source), source);
          },
          [](const std::string&) {
            ScanDescription scan;
            scan.what = "TIFF file, a page for each pattern";
            return std::optional(scan);
          }};
}

}  // namespace tessera::io

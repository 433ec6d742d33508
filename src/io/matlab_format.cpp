// MATLAB 5 to 7 files (MathWorks, MAT-File Format), compressed or not. Columns run fastest there:
// an array (y, x, position) is (position, x, y) here. MATLAB 7.3 files are HDF5.

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <memory>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "array_file.hpp"
#include "flat_scan.hpp"
#include "inflated_bytes.hpp"

namespace tessera::io {
namespace {

struct MatlabArray {
  std::string name;
  Extents extents;  ///< as MATLAB has them
  NumberType type;
  std::int64_t first_byte = 0;  ///< in the file, or in what `deflated` inflates to
  std::optional<Deflated> deflated;
};

constexpr std::uint32_t compressed = 15;
constexpr std::uint32_t matrix = 14;

NumberType type_of(std::uint32_t type) {
  static const std::map<std::uint32_t, NumberType> types{
      {1, {'i', 1}}, {2, {'u', 1}}, {3, {'i', 2}}, {4, {'u', 2}},  {5, {'i', 4}},
      {6, {'u', 4}}, {7, {'f', 4}}, {9, {'f', 8}}, {12, {'i', 8}}, {13, {'u', 8}}};
  const auto found = types.find(type);
  return found == types.end() ? NumberType{'?', 0} : found->second;
}

class MatlabFile {
 public:
  explicit MatlabFile(const std::string& path) : path_(path), file_(path, std::ios::binary) {}

  /// All arrays of real numbers.
  std::vector<MatlabArray> arrays() {
    std::vector<MatlabArray> found;
    file_.seekg(0, std::ios::end);
    const std::int64_t end = file_.tellg();
    for (std::int64_t at = 128; at + 8 <= end;) {
      const Tag tag = tag_at(at);
      if (tag.values + tag.n_bytes > end) fail("it is cut short; copy or write it again");
      if (tag.type == matrix) found.push_back(array_at(tag.values));
      if (tag.type == compressed) found.push_back(compressed_array({tag.values, tag.n_bytes}));
      at = tag.values + tag.n_bytes;
    }
    return found;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(text('"', path_, "\": ", what));
  }

 private:
  struct Tag {
    std::uint32_t type = 0;
    std::uint32_t n_bytes = 0;
    std::int64_t values = 0;  ///< where they begin
    std::int64_t next = 0;
  };

  template <class T>
  T number_at(std::int64_t at) {
    T value{};
    if (inflated_) {
      inflated_->read(at, sizeof value, &value);
      return value;
    }
    file_.clear();
    file_.seekg(at);
    if (!file_.read(reinterpret_cast<char*>(&value), sizeof value))
      fail("it is cut short; copy or write it again");
    return value;
  }
  /// Up to 4 bytes stand in the tag itself.
  Tag tag_at(std::int64_t at) {
    const auto first = number_at<std::uint32_t>(at);
    if (first >> 16 != 0) return {first & 0xffff, first >> 16, at + 4, at + 8};
    const auto n = number_at<std::uint32_t>(at + 4);
    return {first, n, at + 8, at + 8 + (n + 7) / 8 * 8};
  }
  MatlabArray compressed_array(const Deflated& deflated) {
    inflated_ = std::make_unique<InflatedBytes>(path_, deflated.first_byte, deflated.n_bytes);
    const Tag tag = tag_at(0);
    MatlabArray array;
    if (tag.type == matrix) array = array_at(tag.values);
    array.deflated = deflated;
    inflated_.reset();
    return array;
  }
  MatlabArray array_at(std::int64_t at) {
    MatlabArray array;
    const Tag flags = tag_at(at);
    const Tag extents = tag_at(flags.next);
    for (std::uint32_t i = 0; i < extents.n_bytes / 4; ++i)
      array.extents.push_back(number_at<std::int32_t>(extents.values + 4 * i));
    const Tag name = tag_at(extents.next);
    for (std::uint32_t i = 0; i < name.n_bytes; ++i) array.name += number_at<char>(name.values + i);
    const Tag values = tag_at(name.next);
    array.type = type_of(values.type);
    array.first_byte = values.values;
    return array;
  }

  std::string path_;
  std::ifstream file_;
  std::unique_ptr<InflatedBytes> inflated_;  ///< of the array that is looked at, if compressed
};

/// The one that is named, or the largest of three axes.
MatlabArray patterns_array(const ScanSource& source) {
  MatlabFile file(source.path);
  const MatlabArray* best = nullptr;
  double most = 0;
  const std::vector<MatlabArray> arrays = file.arrays();
  for (const MatlabArray& array : arrays) {
    if (array.extents.size() != 3 || array.type.bytes == 0 ||
        *std::ranges::min_element(array.extents) < 1)
      continue;
    double n = 1;
    for (const std::int64_t extent : array.extents) n *= static_cast<double>(extent);
    const bool is_named = array.name == source.patterns;
    if (!is_named && n <= most) continue;
    most = is_named ? std::numeric_limits<double>::infinity() : n;
    best = &array;
  }
  if (!best) file.fail("it holds no array (y, x, position) of real numbers");
  const Extents& e = best->extents;
  if (e[0] != e[1] && e[1] == e[2])
    file.fail(text(best->name, " is ", shape_text(e),
                   ", with positions first; save it as (y, x, position), with permute"));
  return *best;
}

FlatPatterns matlab_patterns(const ScanSource& source) {
  const MatlabArray array = patterns_array(source);
  FlatPatterns flat{.path = source.path, .type = array.type, .first_byte = array.first_byte};
  if (array.deflated)
    flat.unpacked = std::make_shared<InflatedBytes>(source.path, array.deflated->first_byte,
                                                    array.deflated->n_bytes);
  flat.shape = {static_cast<int>(array.extents[1]), static_cast<int>(array.extents[0])};
  flat.n_positions = static_cast<int>(array.extents[2]);
  return flat;
}

bool is_matlab(const ScanSource& source) {
  std::string start(128, '\0');
  std::ifstream(source.path, std::ios::binary).read(start.data(), 128);
  return start.starts_with("MATLAB 5.0 MAT-file") && start.ends_with("IM");
}

}  // namespace

ScanFormat matlab_scans() {
  return {"matlab", "a MATLAB file", is_matlab,
          [](const ScanSource& source, const comm::Communicator*) {
            return open_flat_scan(matlab_patterns(source), source);
          },
          [](const ScanSource& source) {
            ScanDescription scan;
            scan.what = "MATLAB file";
            scan.patterns = patterns_array(source).name;
            scan.statements.push_back(
                {"data.transpose", "true", "MATLAB keeps columns where others keep rows"});
            return std::optional(scan);
          }};
}

}  // namespace tessera::io

#include "dataset_series.hpp"

#include <algorithm>
#include <array>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "array_file.hpp"

namespace tessera::io {
namespace {

bool fits(const std::string& name, const std::string& pattern) {
  const std::size_t star = pattern.find('*');
  return name.size() + 1 >= pattern.size() && name.starts_with(pattern.substr(0, star)) &&
         name.ends_with(pattern.substr(star + 1));
}

/// `names` with one more part of the path, each member that fits.
std::vector<std::string> with_part(const File& file, const std::vector<std::string>& names,
                                   const std::string& part) {
  std::vector<std::string> longer;
  for (const std::string& name : names) {
    if (part.find('*') == std::string::npos) {
      longer.push_back(text(name, '/', part));
      continue;
    }
    std::vector<std::string> members = file.members(name.empty() ? "/" : name);
    std::erase_if(members, [&](const std::string& member) { return !fits(member, part); });
    std::ranges::stable_sort(members, {}, &std::string::size);
    for (const std::string& member : members) longer.push_back(text(name, '/', member));
  }
  return longer;
}

}  // namespace

std::vector<std::string> series_names(const File& file, const std::string& name) {
  if (name.find('*') == std::string::npos) return {name};
  std::vector<std::string> names{""};
  std::istringstream parts(name);
  for (std::string part; std::getline(parts, part, '/');)
    if (!part.empty()) names = with_part(file, names, part);
  if (names.empty())
    throw InputError(text('"', file.path(), "\" has no dataset that \"", name, "\" stands for"));
  return names;
}

DatasetInfo series_info(const File& file, const std::string& name) {
  const std::vector<std::string> names = series_names(file, name);
  DatasetInfo whole = file.info(names.front());
  for (std::size_t i = 1; i < names.size(); ++i) {
    const DatasetInfo part = file.info(names[i]);
    const bool same_shape =
        part.extents.size() == whole.extents.size() && !part.extents.empty() &&
        std::equal(part.extents.begin() + 1, part.extents.end(), whole.extents.begin() + 1);
    if (!same_shape || part.type != whole.type)
      throw InputError(text("dataset \"", names[i], "\" of \"", file.path(), "\" is of shape ",
                            shape_text(part.extents), ", and of another shape or type than \"",
                            names.front(), "\", which it follows"));
    whole.extents[0] += part.extents[0];
    whole.is_virtual |= part.is_virtual;
    whole.is_deflated |= part.is_deflated;
    if (part.chunk != whole.chunk) whole.chunk.clear();
    whole.missing_filters.insert(whole.missing_filters.end(), part.missing_filters.begin(),
                                 part.missing_filters.end());
    whole.missing_files.insert(whole.missing_files.end(), part.missing_files.begin(),
                               part.missing_files.end());
  }
  return whole;
}

SeriesReader::SeriesReader(const File& file, const std::string& name, ElementType memory_type)
    : file_(file), memory_type_(memory_type) {
  std::int64_t end = 0;
  for (const std::string& part : series_names(file, name)) {
    const std::int64_t begin = end;
    end += file.info(part).extents[0];
    parts_.push_back({part, begin, end});
  }
  open(parts_.front());
}

void SeriesReader::open(const Part& part) {
  if (open_part_ == &part) return;
  reader_ = std::make_unique<SlabReader>(file_, part.name, memory_type_);
  open_part_ = &part;
}

void SeriesReader::read(std::span<const std::int64_t> begin, std::span<const std::int64_t> count,
                        void* values) {
  constexpr std::size_t max_axes = 8;
  std::array<std::int64_t, max_axes> first{};
  std::array<std::int64_t, max_axes> size{};
  std::ranges::copy(begin, first.begin());
  std::ranges::copy(count, size.begin());
  std::size_t bytes_per_row = size_of(memory_type_);
  for (std::size_t axis = 1; axis < count.size(); ++axis)
    bytes_per_row *= static_cast<std::size_t>(count[axis]);
  auto* to = static_cast<std::byte*>(values);
  for (const Part& part : parts_) {
    const std::int64_t from = std::max(begin[0], part.begin);
    const std::int64_t until = std::min(begin[0] + count[0], part.end);
    if (from >= until) continue;
    open(part);
    first[0] = from - part.begin;
    size[0] = until - from;
    reader_->read({first.data(), begin.size()}, {size.data(), count.size()}, to);
    to += static_cast<std::size_t>(until - from) * bytes_per_row;
  }
}

}  // namespace tessera::io

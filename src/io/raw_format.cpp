// Numbers without a header, of which the deck says what they are.

#include <climits>
#include <cstdlib>
#include <filesystem>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "flat_scan.hpp"

namespace tessera::io {
namespace {

/// As many as the file's size holds; behind the last one the gap may be there or not.
FlatPatterns raw_patterns(const ScanSource& source) {
  const RawNumbers& raw = source.raw;
  const NumberType type{raw.type[0], std::atoi(raw.type.c_str() + 1) / 8, raw.type.ends_with("be")};
  const std::int64_t gap = raw.bytes_between;
  const std::int64_t pattern = raw.shape.size() * type.bytes;
  const auto n_bytes = static_cast<std::int64_t>(std::filesystem::file_size(source.path));
  const std::int64_t there = n_bytes - raw.first_byte;
  const std::int64_t n = (there + gap) / (pattern + gap);
  const std::int64_t left = (there + gap) % (pattern + gap);
  if (there < pattern || n > INT_MAX || (left != 0 && left != gap))
    throw InputError(text('"', source.path, "\" has ", n_bytes, " bytes, of which ", there,
                          " after data.raw_offset_bytes = ", raw.first_byte, " are not 1 to ",
                          INT_MAX, " patterns of ", pattern, " bytes: data.raw_type = \"", raw.type,
                          "\", data.raw_shape = [", raw.shape.h, ", ", raw.shape.w,
                          "], data.raw_gap_bytes = ", gap,
                          "; correct these, or copy the file again if it is cut short"));
  FlatPatterns flat{.path = source.path, .type = type, .first_byte = raw.first_byte};
  flat.bytes_between = gap;
  flat.n_positions = static_cast<int>(n);
  flat.shape = raw.shape;
  return flat;
}

}  // namespace

ScanFormat raw_scans() {
  return {"raw", "numbers that data.format = \"raw\" describes",
          [](const ScanSource& source) { return source.format == "raw"; },
          [](const ScanSource& source, const comm::Communicator*) {
            return open_flat_scan(raw_patterns(source), source);
          }};
}

}  // namespace tessera::io

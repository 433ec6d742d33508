#include "stored_patterns.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <span>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "zero_frequency.hpp"

namespace tessera::io {

ElementType element_type(PatternType type) {
  switch (type) {
    case PatternType::u8:
      return ElementType::u8;
    case PatternType::u16:
      return ElementType::u16;
    case PatternType::u32:
      return ElementType::u32;
    case PatternType::f32:
      break;
  }
  return ElementType::f32;
}

Shape2 scan_shape(const ScanInfo& info) {
  return info.raster.empty() ? Shape2{info.n_positions, 1} : Shape2{info.raster[0], info.raster[1]};
}

StoredPatterns::StoredPatterns(const ScanSource& source, const ScanInfo& info, const File& file)
    : source_(source),
      info_(info),
      scan_(scan_shape(info)),
      slabs_(file, source.patterns, element_type(info.type)),
      pattern_bytes_(static_cast<std::size_t>(info.pattern.size()) * size_of(info.type)),
      element_bytes_(file.info(source.patterns).element_bytes) {}

// By this rank alone: ranks read different numbers of boxes, and if one cannot inflate a chunk the
// others must not be left inside a collective read. Shares are contiguous, so little is lost.
void StoredPatterns::read(const Box& positions, std::byte* in_file) {
  const auto [h, w] = info_.pattern;
  if (info_.raster.empty()) {
    const std::array<std::int64_t, 3> begin{positions.begin.y, 0, 0};
    const std::array<std::int64_t, 3> count{positions.height(), h, w};
    slabs_.read(begin, count, in_file);
  } else {
    const std::array<std::int64_t, 4> begin{positions.begin.y, positions.begin.x, 0, 0};
    const std::array<std::int64_t, 4> count{positions.height(), positions.width(), h, w};
    slabs_.read(begin, count, in_file);
  }
  bytes_read_ += positions.area() * info_.pattern.size() * element_bytes_;
}

double StoredPatterns::prepare(int position, const std::byte* in_file, std::byte* ready) const {
  double counts = 0;
  with_type(info_.type, [&](auto zero) {
    using T = decltype(zero);
    T* values = reinterpret_cast<T*>(ready);
    if (source_.zero_frequency_centred)
      corner_from_centre(reinterpret_cast<const T*>(in_file), values, info_.pattern);
    else
      std::memcpy(ready, in_file, pattern_bytes_);
    counts = count_valid(position, values);
  });
  return counts;
}

/// Zeroes the other pixels: what a bad pixel holds, even NaN, must not reach the arithmetic.
template <class T>
double StoredPatterns::count_valid(int position, T* values) const {
  const std::uint8_t* valid = info_.valid_pixels.data();
  double sum = 0;
  for (std::int64_t i = 0; i < info_.pattern.size(); ++i) {
    if (!valid[i]) values[i] = 0;
    if constexpr (std::is_floating_point_v<T>)
      if (!std::isfinite(values[i]) || values[i] < 0) refuse(position, i, values[i]);
    sum += static_cast<double>(values[i]);
  }
  return sum;
}

void StoredPatterns::refuse(int position, std::int64_t pixel, double value) const {
  int y = static_cast<int>(pixel / info_.pattern.w);
  int x = static_cast<int>(pixel % info_.pattern.w);
  if (source_.zero_frequency_centred) {
    y = centred_index(y, info_.pattern.h);
    x = centred_index(x, info_.pattern.w);
  }
  throw InputError(text("data.patterns = \"", source_.patterns, "\": scan position ", position,
                        " holds ", value, " at pixel (", y, ", ", x,
                        "); counts must be finite and not negative. Mark bad pixels in "
                        "data.valid_pixels"));
}

}  // namespace tessera::io

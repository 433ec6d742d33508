#include "stored_patterns.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

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
      framing_(info.frame, source.zero_frequency_centred),
      slabs_(file, source.patterns, element_type(info.type)),
      pattern_bytes_(static_cast<std::size_t>(info.pattern.size()) * size_of(info.type)),
      recorded_bytes_(static_cast<std::size_t>(framing_.needed().area()) * size_of(info.type)),
      element_bytes_(file.info(source.patterns).element_bytes) {
  if (info.has_own_masks && source.valid_pixels)
    mask_slabs_.emplace(file, *source.valid_pixels, ElementType::u8);
}

void StoredPatterns::reserve(std::int64_t n_patterns) {
  recorded_.reserve(static_cast<std::size_t>(n_patterns) * recorded_bytes_);
  if (mask_slabs_) masks_.reserve(static_cast<std::size_t>(n_patterns * framing_.needed().area()));
}

// By this rank alone: ranks read different numbers of boxes, and if one cannot inflate a chunk the
// others must not be left inside a collective read. Shares are contiguous, so little is lost.
void StoredPatterns::read(const Box& positions) {
  const Box& pixels = framing_.needed();
  std::array<std::int64_t, 4> begin{positions.begin.y, positions.begin.x, pixels.begin.y,
                                    pixels.begin.x};
  std::array<std::int64_t, 4> count{positions.height(), positions.width(), pixels.height(),
                                    pixels.width()};
  std::span<std::int64_t> first(begin);
  std::span<std::int64_t> size(count);
  if (info_.raster.empty()) {  // one column of positions, which the file has no axis for
    begin[1] = begin[0];
    count[1] = count[0];
    first = first.subspan(1);
    size = size.subspan(1);
  }
  recorded_.resize(static_cast<std::size_t>(positions.area()) * recorded_bytes_);
  slabs_.read(first, size, recorded_.data());
  if (mask_slabs_) {
    masks_.resize(static_cast<std::size_t>(positions.area() * pixels.area()));
    mask_slabs_->read(first, size, masks_.data());
  }
  bytes_read_ += positions.area() * pixels.area() * element_bytes_;
}

double StoredPatterns::prepare(int position, std::int64_t at, std::byte* ready) const {
  const std::uint8_t* trusted =
      mask_slabs_ ? masks_.data() + at * framing_.needed().area() : nullptr;
  const std::byte* recorded = recorded_.data() + static_cast<std::size_t>(at) * recorded_bytes_;
  double counts = 0;
  with_type(info_.type, [&](auto zero) {
    using T = decltype(zero);
    counts =
        frame(position, reinterpret_cast<const T*>(recorded), trusted, reinterpret_cast<T*>(ready));
  });
  return counts;
}

/// What a pixel holds that is not valid, even NaN, is not looked at: it must not reach the
/// arithmetic.
template <class T>
double StoredPatterns::frame(int position, const T* recorded, const std::uint8_t* trusted,
                             T* ready) const {
  const std::uint8_t* valid = info_.valid_pixels.data();
  const double saturation = source_.saturation_counts;
  const bool saturates = std::isfinite(saturation);
  double sum = 0;
  std::fill_n(ready, info_.pattern.size(), T{0});
  framing_.for_each_pixel(framing_.needed(), [&](std::int64_t pixel, const auto& all_recorded) {
    if (!valid[pixel]) return;
    T counts = 0;
    bool is_ignored = false;
    all_recorded([&](std::int64_t i) {
      const T value = recorded[i];
      if ((trusted && !trusted[i]) || (saturates && static_cast<double>(value) >= saturation)) {
        is_ignored = true;
        return;
      }
      if constexpr (std::is_floating_point_v<T>)
        if (!std::isfinite(value) || value < 0) refuse(position, i, value);
      counts = static_cast<T>(counts + value);
    });
    ready[pixel] = is_ignored ? std::numeric_limits<T>::max() : counts;
    if (!is_ignored) sum += static_cast<double>(counts);
  });
  return sum;
}

void StoredPatterns::refuse(int position, std::int64_t pixel, double value) const {
  const Box& read = framing_.needed();
  throw InputError(text("data.patterns = \"", source_.patterns, "\": scan position ", position,
                        " holds ", value, " at pixel (", read.begin.y + pixel / read.width(), ", ",
                        read.begin.x + pixel % read.width(),
                        "); counts must be finite and not negative. Mark bad pixels in "
                        "data.valid_pixels"));
}

}  // namespace tessera::io

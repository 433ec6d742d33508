#include "stored_patterns.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "recorded_pixels.hpp"
#include "scan_chunks.hpp"

namespace tessera::io {

StoredPatterns::StoredPatterns(const ScanSource& source, const ScanInfo& info, ScanReader& file)
    : source_(source),
      info_(info),
      scan_(scan_shape(info.n_positions, info.raster)),
      framing_(info.frame, zero_frequency(source)),
      file_(file),
      pattern_bytes_(static_cast<std::size_t>(info.pattern.size()) * size_of(info.type)),
      recorded_bytes_(static_cast<std::size_t>(framing_.needed().area()) * size_of(info.type)),
      element_bytes_(file.patterns().element_bytes) {
  file_.start_reading(info.type);
  if (!info.has_flashes) return;
  RecordedPixels pixels(framing_, info, source.in_near_field);
  flashes_.emplace(std::move(pixels.trusted), std::move(pixels.in_beam));
  pixel_ = std::move(pixels.pixel);
}

void StoredPatterns::reserve(std::int64_t n_patterns) {
  recorded_.renew(static_cast<std::size_t>(n_patterns) * recorded_bytes_);
  if (info_.has_own_masks)
    masks_.reserve(static_cast<std::size_t>(n_patterns * framing_.needed().area()));
}

void StoredPatterns::read(const Box& positions) {
  const Box& pixels = framing_.needed();
  recorded_.renew(static_cast<std::size_t>(positions.area()) * recorded_bytes_);
  file_.read_patterns(positions, pixels, reinterpret_cast<std::byte*>(recorded_.data()));
  if (info_.has_own_masks) {
    masks_.resize(static_cast<std::size_t>(positions.area() * pixels.area()));
    file_.read_masks(positions, pixels, masks_.data());
  }
  bytes_read_ += positions.area() * pixels.area() * element_bytes_;
}

double StoredPatterns::prepare(int position, std::int64_t at, std::byte* ready) const {
  const std::uint8_t* trusted =
      info_.has_own_masks ? masks_.data() + at * framing_.needed().area() : nullptr;
  const char* recorded = recorded_.data() + static_cast<std::size_t>(at) * recorded_bytes_;
  double counts = 0;
  with_type(info_.type, [&](auto zero) {
    using T = decltype(zero);
    const auto* of_file = reinterpret_cast<const T*>(recorded);
    counts = frame(position, of_file, trusted, reinterpret_cast<T*>(ready));
    if (flashes_) counts -= ignore_flashes(of_file, trusted, reinterpret_cast<T*>(ready));
  });
  return counts;
}

/// Whole numbers, of which none can be refused: without a branch a pixel.
/// @return false, and nothing is done, where this is not all there is to do
template <class T>
bool StoredPatterns::frame_in_runs(const T* recorded, T* ready, double& sum) const {
  constexpr T greatest = std::numeric_limits<T>::max();
  const double limit = std::ceil(source_.saturation_counts);
  const T highest = limit > greatest ? greatest : static_cast<T>(limit - 1);
  const std::uint8_t* valid = info_.valid_pixels.data();
  std::uint64_t counts = 0;
  const bool done =
      framing_.for_each_run(framing_.needed(), [&](std::int64_t pixel, std::int64_t first, int n) {
        const T* from = recorded + first;
        T* to = ready + pixel;
        const std::uint8_t* is_valid = valid + pixel;
        for (int i = 0; i < n; ++i) {
          const T value = is_valid[i] ? from[i] : T{0};
          to[i] = value <= highest ? value : greatest;
          counts += value <= highest ? value : T{0};
        }
      });
  sum = static_cast<double>(counts);
  return done;
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
  if constexpr (std::is_integral_v<T>)
    if (!trusted && frame_in_runs(recorded, ready, sum)) return sum;
  framing_.for_each_pixel(framing_.needed(), [&](std::int64_t pixel, const auto& all_recorded) {
    if (!valid[pixel]) return;
    T counts = 0;
    bool is_ignored = false;
    all_recorded([&](std::int64_t i) {
      T value = recorded[i];
      if ((trusted && !trusted[i]) || (saturates && static_cast<double>(value) >= saturation)) {
        is_ignored = true;
        return;
      }
      if constexpr (std::is_floating_point_v<T>)
        if (!std::isfinite(value) || value < 0) {
          if (source_.negative_counts == NegativeCounts::ignore) {
            is_ignored = true;
            return;
          }
          if (source_.negative_counts == NegativeCounts::refuse || !std::isfinite(value))
            refuse(position, i, value);
          value = 0;
        }
      counts = static_cast<T>(counts + value);
    });
    ready[pixel] = is_ignored ? std::numeric_limits<T>::max() : counts;
    if (!is_ignored) sum += static_cast<double>(counts);
  });
  return sum;
}

template <class T>
double StoredPatterns::ignore_flashes(const T* recorded, const std::uint8_t* trusted,
                                      T* ready) const {
  constexpr T ignored = std::numeric_limits<T>::max();
  double counts = 0;
  flashes_->for_each(recorded, trusted, source_.saturation_counts, [&](std::int64_t i) {
    T& here = ready[pixel_[static_cast<std::size_t>(i)]];
    if (here != ignored) counts += static_cast<double>(here);
    here = ignored;
  });
  return counts;
}

void StoredPatterns::refuse(int position, std::int64_t pixel, double value) const {
  const Box& read = framing_.needed();
  throw InputError(text("data.patterns = \"", source_.patterns, "\": \"", source_.path,
                        "\": scan position ", position, " holds ", value, " at pixel (",
                        read.begin.y + pixel / read.width(), ", ",
                        read.begin.x + pixel % read.width(),
                        "); counts must be finite and not negative. Mark bad pixels in "
                        "data.valid_pixels, or set data.negative_counts"));
}

}  // namespace tessera::io

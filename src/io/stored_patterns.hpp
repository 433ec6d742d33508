#pragma once
/// Patterns as the file has them, and what makes them ready: the part that the reader of a whole
/// scan and the reader of chosen patterns share.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "tessera/base/box.hpp"
#include "tessera/io/fresh_bytes.hpp"

#include "flashes.hpp"
#include "framing.hpp"
#include "io/scan_reader.hpp"
#include "scan_format.hpp"

namespace tessera::io {

/// Calls `work` with a value of the type that patterns are kept in.
template <class Work>
void with_type(PatternType type, Work&& work) {
  switch (type) {
    case PatternType::u8:
      return work(std::uint8_t{});
    case PatternType::u16:
      return work(std::uint16_t{});
    case PatternType::u32:
      return work(std::uint32_t{});
    case PatternType::f32:
      return work(float{});
  }
}

/// What stands for "ignored".
inline double max_count(PatternType type) {
  double max = 0;
  with_type(type, [&](auto zero) {
    max = static_cast<double>(std::numeric_limits<decltype(zero)>::max());
  });
  return max;
}

/// The patterns of an open file, and the masks of their own if they have any. All arguments must
/// outlive it.
class StoredPatterns {
 public:
  StoredPatterns(const ScanSource& source, const ScanInfo& info, ScanReader& file);

  /// After this, reads of up to `n_patterns` allocate nothing.
  void reserve(std::int64_t n_patterns);
  /// Reads the patterns of a box of scan positions, as the file has them.
  /// @throws InputError naming file, dataset, slab and reason
  void read(const Box& positions);

  /// Pattern `at` of those read last, of scan position `position`, cut, binned and padded, zero
  /// frequency at [0, 0]. Pixels that are not valid become 0; what is to be ignored in this pattern
  /// only becomes ScanInfo::saturation.
  /// @return counts of the other pixels
  /// @throws InputError naming `position` and a valid pixel that is negative or not finite
  double prepare(int position, std::int64_t at, std::byte* ready) const;

  /// Of a pattern that is ready.
  std::size_t pattern_bytes() const { return pattern_bytes_; }
  /// Of a pattern as it is read, or ready if that is more.
  std::size_t max_bytes() const { return std::max(recorded_bytes_, pattern_bytes_); }
  Shape2 scan() const { return scan_; }
  /// Read so far, decompressed, in the file's own width.
  std::int64_t bytes_read() const { return bytes_read_; }

 private:
  template <class T>
  double frame(int position, const T* recorded, const std::uint8_t* trusted, T* ready) const;
  template <class T>
  bool frame_in_runs(const T* recorded, T* ready, double& sum) const;
  /// @return counts of the pixels that are ignored from then on
  template <class T>
  double ignore_flashes(const T* recorded, const std::uint8_t* trusted, T* ready) const;
  [[noreturn]] void refuse(int position, std::int64_t pixel, double value) const;

  const ScanSource& source_;
  const ScanInfo& info_;
  Shape2 scan_;
  Framing framing_;
  std::optional<FlashFinder> flashes_;  ///< if they are ignored
  std::vector<std::int64_t> pixel_;     ///< of the pattern, by recorded pixel, for flashes
  ScanReader& file_;
  std::size_t pattern_bytes_;
  std::size_t recorded_bytes_;
  std::int64_t element_bytes_;
  std::int64_t bytes_read_ = 0;
  FreshBytes recorded_;
  std::vector<std::uint8_t> masks_;  ///< 1 = trust
};

}  // namespace tessera::io

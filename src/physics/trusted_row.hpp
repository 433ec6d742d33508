#pragma once
/// What is known of a row of a pattern's pixels.

#include <array>
#include <cstddef>
#include <cstdint>
#include <variant>

#include "tessera/physics/pattern_store.hpp"

#include "chunk_kernels.hpp"
#include "device/sums.hpp"

namespace tessera::physics {

inline hot_path::Counts count_type(const Patterns& patterns) {
  constexpr std::array types{hot_path::Counts::u8, hot_path::Counts::u16, hot_path::Counts::u32,
                             hot_path::Counts::f32};
  return types[patterns.index()];
}

/// Of some pixels of a row: the count, and 1; 0 and 0 where it means nothing.
struct TrustedCounts {
  Real measured[device::pixels_at_a_time];
  Real trusted[device::pixels_at_a_time];
};

/// Counts of any type: what works on them need not know it when it is compiled.
struct TrustedRow {
  const void* counts;
  hot_path::Counts type;
  const Real* valid;
  Real saturation;

  /// Of n pixels from `first` on. Patterns are finite where they mean nothing, too, and by a choice
  /// loops that add up both would not be vectorised.
  KOKKOS_FUNCTION TrustedCounts read(const int first, const int n) const {
    TrustedCounts counted;
    switch (type) {
      case hot_path::Counts::u8:
        read_as<std::uint8_t>(first, n, counted);
        break;
      case hot_path::Counts::u16:
        read_as<std::uint16_t>(first, n, counted);
        break;
      case hot_path::Counts::u32:
        read_as<std::uint32_t>(first, n, counted);
        break;
      case hot_path::Counts::f32:
        read_as<float>(first, n, counted);
        break;
    }
    return counted;
  }

 private:
  template <class Count>
  KOKKOS_FUNCTION void read_as(const int first, const int n, TrustedCounts& counted) const {
    const Count* const here = static_cast<const Count*>(counts) + first;
    TESSERA_INDEPENDENT_ITERATIONS
    for (int i = 0; i < n; ++i) {
      const auto count = static_cast<Real>(here[i]);
      const Real may_be = valid[first + i];  // a load of its own: else a branch
      counted.trusted[i] = count < saturation ? may_be : Real(0);
      counted.measured[i] = count * counted.trusted[i];
    }
  }
};

/// Finds what is known of the patterns of a chunk.
struct TrustedPatterns {
  const std::byte* patterns;
  hot_path::Counts type;
  std::int64_t row_bytes;
  int height;
  DeviceView<int*> order;
  DeviceView<Real**> valid;
  int chunk_begin;
  bool packed;
  Real saturation;

  TrustedPatterns(const ScanTile& scan, const ChunkPatterns& counted, const Chunk& chunk)
      : patterns(std::visit(
            [](const auto& view) { return reinterpret_cast<const std::byte*>(view.data()); },
            counted.values)),
        type(count_type(counted.values)),
        row_bytes(static_cast<std::int64_t>(pattern_bytes(counted.values, {1, scan.window.w}))),
        height(scan.window.h),
        order(scan.order),
        valid(scan.valid_pixels),
        chunk_begin(chunk.begin),
        packed(counted.packed),
        saturation(scan.saturation) {}

  KOKKOS_FUNCTION int position(const int j) const { return order(chunk_begin + j); }
  /// Row y of the pattern at the j-th position of the chunk.
  KOKKOS_FUNCTION TrustedRow row(const int j, const int y) const {
    const std::int64_t place = packed ? j : position(j);
    return {patterns + (place * height + y) * row_bytes, type, &valid(y, 0), saturation};
  }
};

}  // namespace tessera::physics

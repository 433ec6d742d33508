#pragma once
/// What is known of a row of a pattern's pixels.

#include <utility>

#include "chunk_kernels.hpp"

namespace tessera::physics {

template <class Count>
struct TrustedRow {
  const Count* counts;
  const Real* valid;
  Real saturation;

  /// 0 where the count means nothing.
  KOKKOS_FUNCTION Real trust(const int x) const {
    const Real here = valid[x];  // a load of its own: else a branch, and no loop is vectorised
    return static_cast<Real>(counts[x]) < saturation ? here : Real(0);
  }
};

/// Finds such rows of the patterns of a chunk.
template <class PatternView>
struct TrustedPatterns {
  PatternView patterns;
  DeviceView<int*> order;
  DeviceView<Real**> valid;
  Real saturation;
  int chunk_begin;
  bool packed;

  TrustedPatterns(const ScanTile& scan, PatternView values, const Chunk& chunk, bool are_packed)
      : patterns(std::move(values)),
        order(scan.order),
        valid(scan.valid_pixels),
        saturation(scan.saturation),
        chunk_begin(chunk.begin),
        packed(are_packed) {}

  KOKKOS_FUNCTION TrustedRow<typename PatternView::value_type> row(const int j, const int y) const {
    const int position = order(chunk_begin + j);
    return {&patterns(packed ? j : position, y, 0), &valid(y, 0), saturation};
  }
};

}  // namespace tessera::physics

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
  /// The count, 0 where `trusted` is: patterns are finite where they mean nothing, too, and by a
  /// choice loops that add up both would not be vectorised.
  KOKKOS_FUNCTION Real measured(const int x, const Real trusted) const {
    return static_cast<Real>(counts[x]) * trusted;
  }
};

/// Finds what is known of the patterns of a chunk.
template <class PatternView>
struct MeasuredPatterns {
  using Count = typename PatternView::value_type;
  PatternView patterns;
  DeviceView<int*> order;
  DeviceView<Real**> valid;
  int chunk_begin;
  bool packed;

  MeasuredPatterns(const ScanTile& scan, PatternView values, const Chunk& chunk, bool are_packed)
      : patterns(std::move(values)),
        order(scan.order),
        valid(scan.valid_pixels),
        chunk_begin(chunk.begin),
        packed(are_packed) {}

  KOKKOS_FUNCTION int position(const int j) const { return order(chunk_begin + j); }
  /// Of row y of the pattern at the j-th position of the chunk.
  KOKKOS_FUNCTION const Count* counts(const int j, const int y) const {
    return &patterns(packed ? j : position(j), y, 0);
  }
  /// 1 in every pixel of row y that is trusted, else 0.
  KOKKOS_FUNCTION const Real* mask(const int y) const { return &valid(y, 0); }
};

/// The same where single patterns have saturated pixels.
template <class PatternView>
struct TrustedPatterns : MeasuredPatterns<PatternView> {
  Real saturation;

  TrustedPatterns(const ScanTile& scan, PatternView values, const Chunk& chunk, bool are_packed)
      : MeasuredPatterns<PatternView>(scan, std::move(values), chunk, are_packed),
        saturation(scan.saturation) {}

  KOKKOS_FUNCTION TrustedRow<typename PatternView::value_type> row(const int j, const int y) const {
    return {this->counts(j, y), this->mask(y), saturation};
  }
};

}  // namespace tessera::physics

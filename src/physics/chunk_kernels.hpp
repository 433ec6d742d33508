#pragma once
/// Where the pieces of a chunk lie: what every kernel of the model shares.

#include <type_traits>

#include "tessera/physics/model_options.hpp"
#include "tessera/physics/scan_tile.hpp"

#include "hot_path.hpp"
#include "physics/gradient_sums.hpp"

namespace tessera::physics {

using device::complex;
using device::DeviceView;

/// The same numbers, as kernels know them that do not know Kokkos. In double precision the calls
/// compile and are never made.
inline hot_path::Complex* plain(complex* values) {
  return reinterpret_cast<hot_path::Complex*>(values);
}
inline const hot_path::Complex* plain(const complex* values) {
  return reinterpret_cast<const hot_path::Complex*>(values);
}
inline float* plain(Real* values) {
  return reinterpret_cast<float*>(values);
}
inline const float* plain(const Real* values) {
  return reinterpret_cast<const float*>(values);
}

/// f(n) with n = n_modes as a compile-time number for the usual ones, else 0: only then does the
/// compiler unroll the sum over modes and vectorise along x.
template <class F>
void with_known_modes(int n_modes, const F& f) {
  switch (n_modes) {
    case 1:
      return f(std::integral_constant<int, 1>());
    case 2:
      return f(std::integral_constant<int, 2>());
    case 3:
      return f(std::integral_constant<int, 3>());
    default:
      return f(std::integral_constant<int, 0>());
  }
}

/// A *beam* is one sub-position of a position of a chunk; without fly scans, the position. Row y of
/// the window of beam i lies at `at(i, y)` of a plane of the object.
struct Windows {
  DeviceView<int*> order;
  DeviceView<int* [2]> corner;
  DeviceView<int*> slot;
  int chunk_begin;
  std::int64_t object_w;
  int n_sub_positions;
  bool own_probes;
  /// Local position of beam i.
  KOKKOS_FUNCTION int position(int i) const { return order(chunk_begin + i / n_sub_positions); }
  /// Its row in what is stored by sub-position.
  KOKKOS_FUNCTION int place(int i) const {
    return n_sub_positions == 1 ? order(chunk_begin + i)
                                : position(i) * n_sub_positions + i % n_sub_positions;
  }
  KOKKOS_FUNCTION int slot_of(int i) const { return own_probes ? i : slot(chunk_begin + i); }
  KOKKOS_FUNCTION std::int64_t at(int i, int y) const {
    const int place_i = place(i);
    return (corner(place_i, 0) + y) * object_w + corner(place_i, 1);
  }
};

inline Windows windows_of(const ScanTile& scan, const ModelOptions& options, const Chunk& chunk,
                          std::size_t object_w) {
  return {scan.order,
          scan.corner,
          scan.slot,
          chunk.begin,
          static_cast<std::int64_t>(object_w),
          options.n_sub_positions,
          options.own_probes};
}

/// A stack of images of all beams of a chunk, or of all slots, (beam or slot, image, h, w);
/// stride = 0: common to all.
struct ChunkImages {
  complex* data;
  std::int64_t stride;
  std::int64_t mode_stride;
  int w;
  KOKKOS_FUNCTION complex* row(int j, int m, int y) const {
    return data + j * stride + m * mode_stride + static_cast<std::int64_t>(y) * w;
  }
};

/// One image a mode, the same for every beam and slot.
inline ChunkImages common_images(const ProbeView& view) {
  const auto w = static_cast<int>(view.extent(2));
  return {view.data(), 0, static_cast<std::int64_t>(view.extent(1)) * w, w};
}

/// By beam or by slot, which has n_images.
inline ChunkImages images_by(int n_images, const WavesView& view) {
  const auto w = static_cast<int>(view.extent(3));
  const std::int64_t area = static_cast<std::int64_t>(view.extent(2)) * w;
  return {view.data(), area * n_images, area, w};
}

/// Signed frequency of bin k of n, cycles per n pixels.
KOKKOS_FUNCTION inline int signed_bin(int k, int n) {
  return k < (n + 1) / 2 ? k : k - n;
}

/// What the modes of a pixel add up to.
struct ModeSums {
  Real re = 0;  ///< of sum conj(P) chi
  Real im = 0;
  Real power = 0;  ///< sum |P|^2
  KOKKOS_FUNCTION void add(const complex& p, const complex& chi) {
    re += p.real() * chi.real() + p.imag() * chi.imag();
    im += p.real() * chi.imag() - p.imag() * chi.real();
    power += p.real() * p.real() + p.imag() * p.imag();
  }
};

}  // namespace tessera::physics

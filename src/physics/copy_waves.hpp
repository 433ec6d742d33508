#pragma once
/// Waves of a chunk to where they are kept.

#include "tessera/device/device.hpp"

#include "physics/gradient_sums.hpp"

namespace tessera::physics {

template <bool adds>
struct CopyWaves {
  const Real* waves;
  Real* kept;
  Real scale;
  std::int64_t width;

  struct Row {
    const Real* wave;
    Real* kept;
    Real scale;
    KOKKOS_FUNCTION void operator()(const int x) const {
      if constexpr (adds) {
        kept[x] += wave[x] * scale;
      } else {
        kept[x] = wave[x] * scale;
      }
    }
  };
  KOKKOS_FUNCTION Row row(int, const int y) const {
    return {waves + y * width, kept + y * width, scale};
  }
};

/// kept = scale waves, or += with `adds`, of the first `n_positions` of a chunk.
template <bool adds>
void copy_waves(const device::Device& exec, const WavesView& waves, int n_positions, Real scale,
                device::complex* kept) {
  const Shape2 rows{n_positions * static_cast<int>(waves.extent(1) * waves.extent(2)),
                    2 * static_cast<int>(waves.extent(3))};
  device::for_each_row_pixel(
      exec, "tessera::physics::copy_waves", 1, rows,
      CopyWaves<adds>{device::reals(waves.data()), device::reals(kept), scale, rows.w});
}

}  // namespace tessera::physics

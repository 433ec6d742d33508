#pragma once
/// What ProjectionPass does to every exit wave, step by step: the same to real and imaginary parts,
/// one after another. Plain functors.

#include "chunk_kernels.hpp"
#include "detector_kernels.hpp"
#include "physics/projection_pass.hpp"

namespace tessera::physics {

/// What the map finds kept of the wave that P_O makes, so that r is that wave.
struct StartKept {
  Real part;
  KOKKOS_FUNCTION void operator()(Real& wave, Real&, Real& kept, Real) const { kept = wave * part; }
};

/// From P_O to r.
struct ReachModulus {
  LinearMap map;
  KOKKOS_FUNCTION void operator()(Real& wave, Real&, Real& kept, Real) const {
    const Real r = wave * map.of_overlap + kept * map.of_kept;
    kept = map.from_overlap ? wave : r;
    wave = r;
  }
};

/// From (P_M - 1) r to scale times what P_O projects next.
struct LeaveModulus {
  LinearMap map;
  Real scale;
  KOKKOS_FUNCTION void operator()(Real& wave, Real&, Real& kept, Real share) const {
    const Real next = kept + wave * (map.of_residual * share);
    kept = next * map.keeps_new + kept * map.keeps_base;
    wave = next * scale;
  }
};

/// What P_O projects.
struct StoreNext {
  KOKKOS_FUNCTION void operator()(Real& wave, Real& next, Real&, Real) const { next = wave; }
};

/// To what P_O projects, again, times scale.
struct Recall {
  Real scale;
  KOKKOS_FUNCTION void operator()(Real& wave, Real& next, Real&, Real) const {
    wave = next * scale;
  }
};

/// Of the plain model, all of a step at the detector: what P_O made becomes what it projects next,
/// times scale. Adds figures of P_O, or, only looking, |(P_M - 1) r|^2.
template <bool only_looks, int known_modes, class PatternView>
struct ProjectAmplitudes {
  MeasuredPatterns<PatternView> measured;
  WavesView waves;
  WavesView kept;
  DeviceView<Real*> residual_share;
  LinearMap map;
  Real scale;
  Real dark_amplitude;

  struct Row {
    const typename PatternView::value_type* counts;
    const Real* valid;
    complex* wave;
    complex* kept;
    std::int64_t stride;
    int n_modes;
    LinearMap map;
    Real from_overlap;  ///< 1, or 0
    Real share;
    Real scale;
    Real dark_amplitude;

    KOKKOS_FUNCTION Real reached(const Real wave_part, const Real kept_part) const {
      return wave_part * map.of_overlap + kept_part * map.of_kept;
    }
    /// What a part of a wave becomes, times 1 / scale, and what is kept of it.
    struct Moved {
      Real next;
      Real kept;
    };
    KOKKOS_FUNCTION Moved moved(const Real wave_part, const Real kept_part,
                                const Real factor) const {
      const Real r = reached(wave_part, kept_part);
      const Real base = r + (wave_part - r) * from_overlap;  // a branch, and nothing is vectorised
      const Real next = base + r * factor;
      return {next, next * map.keeps_new + base * map.keeps_base};
    }
    KOKKOS_FUNCTION void operator()(const int x, Real* sum) const {
      const int n = known_modes > 0 ? known_modes : n_modes;
      Real of_overlap = 0;
      Real of_reached = 0;
      for (int m = 0; m < n; ++m) {
        const complex& seen = wave[m * stride + x];
        const complex& before = kept[m * stride + x];
        const Real re = reached(seen.real(), before.real());
        const Real im = reached(seen.imag(), before.imag());
        of_overlap += squared_magnitude(seen);
        of_reached += re * re + im * im;
      }
      const Real trusted = valid[x];
      const Real measured = static_cast<Real>(counts[x]) * trusted;
      const Real amplitude = device::math::sqrt(measured);
      const Real amplitude_reached = device::math::sqrt(of_reached);
      const Real missing = (amplitude - amplitude_reached) * trusted;
      const Real bright = no_darker(amplitude_reached, dark_amplitude);
      if constexpr (only_looks) {
        const Real moved = missing * amplitude_reached / bright;
        sum[0] += moved * moved;
      } else {
        const Real difference = (device::math::sqrt(of_overlap) - amplitude) * trusted;
        add_figures(sum, difference, measured, amplitude, difference * difference, trusted);
        const Real factor = share * missing / bright;
        for (int m = 0; m < n; ++m) {
          complex& seen = wave[m * stride + x];
          complex& before = kept[m * stride + x];
          // Both parts are read before one is written: else vectors hold one of them, and the last
          // pixels of a row are taken one by one.
          const Moved re = moved(seen.real(), before.real(), factor);
          const Moved im = moved(seen.imag(), before.imag(), factor);
          seen = complex(re.next * scale, im.next * scale);
          before = complex(re.kept, im.kept);
        }
      }
    }
  };
  KOKKOS_FUNCTION Row row(const int j, const int y) const {
    return {measured.counts(j, y),
            measured.mask(y),
            &waves(j, 0, y, 0),
            &kept(measured.position(j), 0, y, 0),
            static_cast<std::int64_t>(waves.extent(2) * waves.extent(3)),
            static_cast<int>(waves.extent(1)),
            map,
            map.from_overlap ? Real(1) : Real(0),
            map.of_residual * residual_share(j),
            scale,
            dark_amplitude};
  }
};

/// f(wave, next, kept, residual share) for every part of a chunk's waves and of what its
/// positions store.
template <class F>
struct WithStored {
  WavesView waves;
  WavesView next;
  WavesView kept;
  DeviceView<Real*> residual_share;
  DeviceView<int*> order;
  int chunk_begin;
  int n_images;
  F f;

  struct Row {
    Real* wave;
    Real* next;
    Real* kept;
    Real share;
    F f;
    KOKKOS_FUNCTION void operator()(const int x) const { f(wave[x], next[x], kept[x], share); }
  };
  KOKKOS_FUNCTION Row row(const int i, const int y) const {
    const int j = i / n_images;
    const int image = i - j * n_images;
    const int position = order(chunk_begin + j);
    return {device::reals(&waves(j, image, y, 0)), device::reals(&next(position, image, y, 0)),
            device::reals(&kept(position, image, y, 0)), residual_share(j), f};
  }
};

/// Of residuals of these squared norms what to add, so that `bound` is left; nothing if less is.
struct ShareBeyond {
  double bound;
  DeviceView<double* [1]> distance;
  DeviceView<Real*> share;
  KOKKOS_FUNCTION void operator()(const int j) const {
    share(j) = distance(j, 0) <= bound
                   ? Real(0)
                   : static_cast<Real>(1 - device::math::sqrt(bound / distance(j, 0)));
  }
};

}  // namespace tessera::physics

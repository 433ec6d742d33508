#pragma once
/// What ProjectionPass does to every exit wave, step by step: the same to real and imaginary parts,
/// one after another. Plain functors.

#include <type_traits>

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

/// Of a step at the detector, where it compares waves alone. Where a share of the residual follows
/// from the whole pattern's distance, a look comes before waves move.
enum class ProjectPart { looks, moves, looks_and_moves };

template <ProjectPart part>
using PartTag = std::integral_constant<ProjectPart, part>;

/// What P_O made becomes what it projects next, times scale, and adds figures of P_O. Looks: the
/// residual over r, and |(P_M - 1) r|^2 of every pattern. Of some pixels of a row step by step, as
/// Compare.
template <ProjectPart part, class Pixels>
struct Project {
  static constexpr bool looks = part != ProjectPart::moves;
  static constexpr bool moves = part != ProjectPart::looks;
  static constexpr int n_sums = moves ? FigureSums::n_sums : 1;
  TrustedPatterns patterns;
  Pixels pixels;
  WavesView waves;
  WavesView kept;
  DeviceView<Real***> factor;  ///< between the two parts
  DeviceView<Real*> residual_share;
  LinearMap map;
  Real scale;

  struct Row {
    TrustedRow pattern;
    typename Pixels::Row pixels;
    WaveRow waves;
    complex* kept;
    Real* factor;
    LinearMap map;
    Real from_overlap;  ///< 1, or 0
    Real share;
    Real scale;

    KOKKOS_FUNCTION Real reached(const Real wave_part, const Real kept_part) const {
      return wave_part * map.of_overlap + kept_part * map.of_kept;
    }
    /// |r|^2 of `n` pixels.
    KOKKOS_FUNCTION void find_reached(const int first, const int n, Real* light) const {
      for (int i = 0; i < n; ++i) light[i] = 0;
      for (int k = 0; k < waves.n_waves; ++k) {
        const complex* const seen = waves.wave + k * waves.stride + first;
        const complex* const before = kept + k * waves.stride + first;
        TESSERA_INDEPENDENT_ITERATIONS
        for (int i = 0; i < n; ++i) {
          const Real re = reached(seen[i].real(), before[i].real());
          const Real im = reached(seen[i].imag(), before[i].imag());
          light[i] += re * re + im * im;
        }
      }
    }
    /// |r|^2 becomes the residual over r. @return its |(P_M - 1) r|^2
    KOKKOS_FUNCTION Real find_factor(const int first, const int n, const TrustedCounts& counted,
                                     Real* light) const {
      Real distance = 0;
      TESSERA_INDEPENDENT_ITERATIONS
      for (int i = 0; i < n; ++i) {
        const Real found =
            -counted.trusted[i] * pixels.pixel(first + i, light[i]).slope(counted.measured[i]);
        distance += found * found * light[i];
        light[i] = found;
      }
      return distance;
    }
    KOKKOS_FUNCTION void add_figures_of(const int first, const int n, const TrustedCounts& counted,
                                        const Real* light, Real* sum) const {
      TESSERA_INDEPENDENT_ITERATIONS
      for (int i = 0; i < n; ++i) {
        const auto pixel = pixels.pixel(first + i, light[i]);
        const Real measured = counted.measured[i];
        add_figures(sum, pixel.counts, measured, pixel.excess_cost(measured), counted.trusted[i]);
      }
    }
    /// What a part of a wave becomes, times 1 / scale, and what is kept of it.
    struct Moved {
      Real next;
      Real kept;
    };
    KOKKOS_FUNCTION Moved moved(const Real wave_part, const Real kept_part,
                                const Real residual) const {
      const Real r = reached(wave_part, kept_part);
      const Real base = r + (wave_part - r) * from_overlap;  // a branch, and nothing is vectorised
      const Real next = base + r * residual;
      return {next, next * map.keeps_new + base * map.keeps_base};
    }
    KOKKOS_FUNCTION void move(const int first, const int n, const Real* residual) const {
      for (int k = 0; k < waves.n_waves; ++k) {
        complex* const seen = waves.wave + k * waves.stride + first;
        complex* const before = kept + k * waves.stride + first;
        TESSERA_INDEPENDENT_ITERATIONS
        for (int i = 0; i < n; ++i) {
          // Both parts are read before one is written: else vectors hold one of them, and the last
          // pixels of a row are taken one by one.
          const Real of_it = share * residual[i];
          const Moved re = moved(seen[i].real(), before[i].real(), of_it);
          const Moved im = moved(seen[i].imag(), before[i].imag(), of_it);
          seen[i] = complex(re.next * scale, im.next * scale);
          before[i] = complex(re.kept, im.kept);
        }
      }
    }
    KOKKOS_FUNCTION void operator()(const int first, const int last, Real* sum) const {
      const int n = device::count_pixels(first, last);
      const TrustedCounts counted = pattern.read(first, n);
      Real found[device::pixels_at_a_time];
      if constexpr (looks) {
        find_reached(first, n, found);
        const Real distance = find_factor(first, n, counted, found);
        if constexpr (!moves) {
          sum[0] += distance;
          for (int i = 0; i < n; ++i) factor[first + i] = found[i];
        }
      }
      if constexpr (moves) {
        Real light[device::pixels_at_a_time];
        waves.find_light(first, n, light);
        Real terms[n_sums] = {};
        add_figures_of(first, n, counted, light, terms);
        for (int k = 0; k < n_sums; ++k) sum[k] += terms[k];
        move(first, n, looks ? found : factor + first);
      }
    }
  };
  KOKKOS_FUNCTION Row row(const int j, const int y) const {
    return {patterns.row(j, y),
            pixels.row(y),
            wave_row(waves, j, y),
            &kept(patterns.position(j), 0, y, 0),
            &factor(j, y, 0),
            map,
            map.from_overlap ? Real(1) : Real(0),
            map.of_residual * residual_share(j),
            scale};
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

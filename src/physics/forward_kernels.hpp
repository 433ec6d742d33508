#pragma once
/// What ForwardModel does to every pixel. Plain functors: any Kokkos device runs them.

#include <type_traits>

#include "tessera/physics/forward_model.hpp"

#include "hot_path.hpp"

namespace tessera::physics {

using device::complex;
using device::DeviceView;

/// The same numbers, as kernels know them that do not know Kokkos. In double precision the calls
/// compile and are never made.
inline hot_path::Complex* plain(complex* values) {
  return reinterpret_cast<hot_path::Complex*>(values);
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

/// Row y of the window of position j of a chunk lies at `at(j, y)` of an object-sized field.
struct Windows {
  DeviceView<int*> order;
  DeviceView<int* [2]> corner;
  DeviceView<int*> slot;
  int chunk_begin;
  std::int64_t object_w;
  KOKKOS_FUNCTION int position(int j) const { return order(chunk_begin + j); }
  KOKKOS_FUNCTION int slot_of(int j) const { return slot(chunk_begin + j); }
  KOKKOS_FUNCTION std::int64_t at(int j, int y) const {
    return (corner(position(j), 0) + y) * object_w + corner(position(j), 1);
  }
};

/// A stack of images of all positions of a chunk, or of all slots, (position or slot, mode, h, w);
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

/// exp(-2 pi i k s / n) for the signed frequency of bin k: moves an image of n pixels by +s.
KOKKOS_FUNCTION inline complex shift_factor(int k, int n, Real s) {
  const int signed_k = k < (n + 1) / 2 ? k : k - n;
  const Real angle = Real(-2 * M_PI) * Real(signed_k) * s / Real(n);
  return {device::math::cos(angle), device::math::sin(angle)};
}

/// Fourier factors of the slots from first_slot on.
struct ShiftRamps {
  DeviceView<Real* [2]> slot_shift;
  DeviceView<complex**> ramp_y;
  DeviceView<complex**> ramp_x;
  Shape2 window;
  int first_slot;
  KOKKOS_FUNCTION void operator()(int, const int slot, const int k) const {
    if (k < window.h) {
      ramp_y(slot, k) = shift_factor(k, window.h, slot_shift(first_slot + slot, 0));
    } else {
      ramp_x(slot, k - window.h) =
          shift_factor(k - window.h, window.w, slot_shift(first_slot + slot, 1));
    }
  }
};

struct ShiftSpectrum {
  ChunkImages spectrum;
  ChunkImages shifted;
  DeviceView<complex**> ramp_y;
  DeviceView<complex**> ramp_x;
  int n_modes;
  Real scale;

  struct Row {
    const complex* spectrum;
    const complex* ramp_x;
    complex* shifted;
    complex factor;
    KOKKOS_FUNCTION void operator()(const int x) const {
      shifted[x] = spectrum[x] * (factor * ramp_x[x]);
    }
  };
  KOKKOS_FUNCTION Row row(const int i, const int y) const {
    const int slot = i / n_modes;
    const int m = i - slot * n_modes;
    return {spectrum.row(slot, m, y), &ramp_x(slot, 0), shifted.row(slot, m, y),
            ramp_y(slot, y) * scale};
  }
};

struct ExitWaves {
  Windows windows;
  const complex* object;
  ChunkImages probe;  ///< by slot
  ChunkImages waves;
  int n_modes;
  Real scale;

  struct Row {
    const complex* object;
    const complex* probe;
    complex* wave;
    Real scale;
    KOKKOS_FUNCTION void operator()(const int x) const { wave[x] = probe[x] * (object[x] * scale); }
  };
  KOKKOS_FUNCTION Row row(const int i, const int y) const {
    const int j = i / n_modes;
    const int m = i - j * n_modes;
    return {object + windows.at(j, y), probe.row(windows.slot_of(j), m, y), waves.row(j, m, y),
            scale};
  }
};

/// Adds conj(probe) wave and |probe|^2 of position first + i to the object's sums.
template <int known_modes, bool atomic>
struct ObjectGradient {
  Windows windows;
  ChunkImages waves;
  ChunkImages probe;
  complex* object_sum;
  Real* illumination;
  int n_modes;
  Real scale;
  int first;

  struct Row {
    const complex* probe;
    const complex* wave;
    std::int64_t mode_stride;
    complex* sum;
    Real* illumination;
    int n_modes;
    Real scale;
    KOKKOS_FUNCTION void operator()(const int x) const {
      Real re = 0;
      Real im = 0;
      Real power = 0;
      for (int m = 0; m < (known_modes > 0 ? known_modes : n_modes); ++m) {
        const std::int64_t at = m * mode_stride + x;
        const Real p_re = probe[at].real();
        const Real p_im = probe[at].imag();
        re += p_re * wave[at].real() + p_im * wave[at].imag();
        im += p_re * wave[at].imag() - p_im * wave[at].real();
        power += p_re * p_re + p_im * p_im;
      }
      if constexpr (atomic) {
        Kokkos::atomic_add(&sum[x].real(), re * scale);
        Kokkos::atomic_add(&sum[x].imag(), im * scale);
        Kokkos::atomic_add(&illumination[x], power);
      } else {
        sum[x].real() += re * scale;
        sum[x].imag() += im * scale;
        illumination[x] += power;
      }
    }
  };
  KOKKOS_FUNCTION Row row(const int i, const int y) const {
    const int j = first + i;
    return {probe.row(windows.slot_of(j), 0, y),
            waves.row(j, 0, y),
            waves.mode_stride,
            object_sum + windows.at(j, y),
            illumination + windows.at(j, y),
            n_modes,
            scale};
  }
};

/// Adds |object|^2 of every position of the chunk to the overlap.
struct Overlap {
  Windows windows;
  const complex* object;
  Real* overlap;
  int w;
  int n_positions;

  struct Row {
    const complex* object;
    Real* overlap;
    KOKKOS_FUNCTION void operator()(const int x) const {
      const Real re = object[x].real();
      const Real im = object[x].imag();
      overlap[x] += re * re + im * im;
    }
  };
  KOKKOS_FUNCTION device::TermRange terms(int) const { return {0, n_positions}; }
  KOKKOS_FUNCTION Row row(const int j, int, const int y) const {
    return {object + windows.at(j, y), overlap + static_cast<std::int64_t>(y) * w};
  }
};

/// Adds conj(object) wave of every position to its slot's sum; image i is slot first + i / n_modes.
struct SlotGradient {
  Windows windows;
  const complex* object;
  ChunkImages waves;
  ChunkImages slot_sums;
  int n_modes;
  Real scale;
  int first;
  int n_positions;

  struct Row {
    const complex* object;
    const complex* wave;
    complex* sum;
    Real scale;
    KOKKOS_FUNCTION void operator()(const int x) const {
      const Real re = object[x].real() * scale;
      const Real im = object[x].imag() * scale;
      sum[x].real() += re * wave[x].real() + im * wave[x].imag();
      sum[x].imag() += re * wave[x].imag() - im * wave[x].real();
    }
  };
  /// The positions of a slot follow one another: the first one whose slot is not less.
  KOKKOS_FUNCTION int first_position(const int slot) const {
    int begin = 0;
    int end = n_positions;
    while (begin < end) {
      const int middle = (begin + end) / 2;
      if (windows.slot_of(middle) < slot) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return begin;
  }
  KOKKOS_FUNCTION device::TermRange terms(const int i) const {
    const int slot = first + i / n_modes;
    return {first_position(slot), first_position(slot + 1)};
  }
  KOKKOS_FUNCTION Row row(const int j, const int i, const int y) const {
    const int m = i % n_modes;
    return {object + windows.at(j, y), waves.row(j, m, y), slot_sums.row(first + i / n_modes, m, y),
            scale};
  }
};

/// Adds the spectra of all slots, shifted back by the conjugate ramps, to the probe's sum, and sets
/// them to zero.
struct GatherSlots {
  ChunkImages slot_sums;
  ChunkImages probe_sum;
  DeviceView<complex**> ramp_y;
  DeviceView<complex**> ramp_x;
  int n_slots;

  struct Row {
    complex* spectrum;
    const complex* ramp_x;
    complex* sum;
    complex factor;
    KOKKOS_FUNCTION void operator()(const int x) const {
      sum[x] += factor * Kokkos::conj(ramp_x[x]) * spectrum[x];
      spectrum[x] = complex(0);
    }
  };
  KOKKOS_FUNCTION device::TermRange terms(int) const { return {0, n_slots}; }
  KOKKOS_FUNCTION Row row(const int slot, const int m, const int y) const {
    return {slot_sums.row(slot, m, y), &ramp_x(slot, 0), probe_sum.row(0, m, y),
            Kokkos::conj(ramp_y(slot, y))};
  }
};

}  // namespace tessera::physics

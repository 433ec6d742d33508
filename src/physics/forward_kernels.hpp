#pragma once
/// What ForwardModel does to every pixel. Plain functors: any Kokkos device runs them.

#include <type_traits>

#include "tessera/physics/forward_model.hpp"

namespace tessera::physics {

using device::complex;
using device::DeviceView;

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
  int chunk_begin;
  std::int64_t object_w;
  KOKKOS_FUNCTION int position(int j) const { return order(chunk_begin + j); }
  KOKKOS_FUNCTION std::int64_t at(int j, int y) const {
    return (corner(position(j), 0) + y) * object_w + corner(position(j), 1);
  }
};

/// A stack of images of all positions of a chunk, (position, mode, h, w); position_stride = 0:
/// common to all.
struct ChunkImages {
  complex* data;
  std::int64_t position_stride;
  std::int64_t mode_stride;
  int w;
  KOKKOS_FUNCTION complex* row(int j, int m, int y) const {
    return data + j * position_stride + m * mode_stride + static_cast<std::int64_t>(y) * w;
  }
};

/// exp(-2 pi i k s / n) for the signed frequency of bin k: moves an image of n pixels by +s.
KOKKOS_FUNCTION inline complex shift_factor(int k, int n, Real s) {
  const int signed_k = k < (n + 1) / 2 ? k : k - n;
  const Real angle = Real(-2 * M_PI) * Real(signed_k) * s / Real(n);
  return {device::math::cos(angle), device::math::sin(angle)};
}

struct ShiftRamps {
  Windows windows;
  DeviceView<Real* [2]> subpixel;
  DeviceView<complex**> ramp_y;
  DeviceView<complex**> ramp_x;
  Shape2 window;
  KOKKOS_FUNCTION void operator()(int, const int j, const int k) const {
    const int position = windows.position(j);
    if (k < window.h) {
      ramp_y(j, k) = shift_factor(k, window.h, subpixel(position, 0));
    } else {
      ramp_x(j, k - window.h) = shift_factor(k - window.h, window.w, subpixel(position, 1));
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
    const int j = i / n_modes;
    const int m = i - j * n_modes;
    return {spectrum.row(j, m, y), &ramp_x(j, 0), shifted.row(j, m, y), ramp_y(j, y) * scale};
  }
};

struct ExitWaves {
  Windows windows;
  const complex* object;
  ChunkImages probe;
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
    return {object + windows.at(j, y), probe.row(j, m, y), waves.row(j, m, y), scale};
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
    return {probe.row(j, 0, y),
            waves.row(j, 0, y),
            waves.mode_stride,
            object_sum + windows.at(j, y),
            illumination + windows.at(j, y),
            n_modes,
            scale};
  }
};

/// Turns the waves of position j into conj(object) wave and adds |object|^2 to the overlap.
template <int known_modes>
struct Overlap {
  Windows windows;
  const complex* object;
  ChunkImages waves;
  Real* overlap;
  int n_modes;
  Real scale;
  int j;

  struct Row {
    const complex* object;
    complex* wave;
    std::int64_t mode_stride;
    Real* overlap;
    int n_modes;
    Real scale;
    KOKKOS_FUNCTION void operator()(const int x) const {
      const Real re = object[x].real();
      const Real im = object[x].imag();
      overlap[x] += re * re + im * im;
      for (int m = 0; m < (known_modes > 0 ? known_modes : n_modes); ++m) {
        complex& w = wave[m * mode_stride + x];
        const Real w_re = (re * w.real() + im * w.imag()) * scale;
        const Real w_im = (re * w.imag() - im * w.real()) * scale;
        w.real() = w_re;
        w.imag() = w_im;
      }
    }
  };
  KOKKOS_FUNCTION Row row(int, const int y) const {
    return {object + windows.at(j, y),
            waves.row(j, 0, y),
            waves.mode_stride,
            overlap + static_cast<std::int64_t>(y) * waves.w,
            n_modes,
            scale};
  }
};

/// Adds the waves of position j, shifted back in Fourier space by the conjugate ramps, to the
/// probe's sum.
struct ProbeGradient {
  ChunkImages waves;
  ChunkImages probe_sum;
  DeviceView<complex**> ramp_y;  ///< empty: no shift
  DeviceView<complex**> ramp_x;
  int j;

  struct Row {
    const complex* wave;
    const complex* ramp_x;
    complex* sum;
    complex factor;
    KOKKOS_FUNCTION void operator()(const int x) const {
      const complex product = ramp_x ? factor * Kokkos::conj(ramp_x[x]) * wave[x] : wave[x];
      sum[x] += product;
    }
  };
  KOKKOS_FUNCTION Row row(const int m, const int y) const {
    const bool shifted = ramp_x.data() != nullptr;
    return {waves.row(j, m, y), shifted ? &ramp_x(j, 0) : nullptr, probe_sum.row(0, m, y),
            shifted ? Kokkos::conj(ramp_y(j, y)) : complex(1)};
  }
};

}  // namespace tessera::physics

#pragma once
/// What ForwardModel does to every pixel. Plain functors: any Kokkos device runs them.

#include "chunk_kernels.hpp"
#include "device/sums.hpp"
#include "object_gradient.hpp"
#include "physics/inner_product.hpp"

namespace tessera::physics {

/// probe * object * scale; wave i of all is (beam, object mode, probe mode).
struct ExitWaves {
  Windows windows;
  const complex* object;
  std::int64_t object_mode_stride;
  ChunkImages probe;  ///< by slot
  ChunkImages waves;  ///< one after another
  int n_modes;
  int n_object_modes;
  Real scale;

  struct Row {
    const complex* object;
    const complex* probe;
    complex* wave;
    Real scale;
    KOKKOS_FUNCTION complex at(const int x) const { return probe[x] * (object[x] * scale); }
    KOKKOS_FUNCTION void operator()(const int x) const { wave[x] = at(x); }
  };
  KOKKOS_FUNCTION Row row(const int i, const int y) const {
    const int plane = i / n_modes;
    const int beam = plane / n_object_modes;
    const int o = plane - beam * n_object_modes;
    return {object + o * object_mode_stride + windows.at(beam, y),
            probe.row(windows.slot_of(beam), i - plane * n_modes, y), waves.row(i, 0, y), scale};
  }
};

/// Adds |object|^2 of every beam and object mode of the chunk to the overlap, times the beam's
/// power where it has one of its own.
struct Overlap {
  Windows windows;
  const complex* object;
  std::int64_t object_mode_stride;
  DeviceView<Real*> intensity;
  Real* overlap;
  int w;
  int n_beams;
  int n_object_modes;

  struct Row {
    const complex* object;
    Real power;
    KOKKOS_FUNCTION Real operator()(const int x) const {
      return power * squared_magnitude(object[x]);
    }
  };
  KOKKOS_FUNCTION Real* sums(int, const int y) const {
    return overlap + static_cast<std::int64_t>(y) * w;
  }
  KOKKOS_FUNCTION device::TermRange terms(int) const { return {0, n_beams * n_object_modes}; }
  KOKKOS_FUNCTION Row row(const int i, int, const int y) const {
    const int beam = i / n_object_modes;
    const Real power = intensity.size() > 0 ? intensity(windows.position(beam)) : Real(1);
    return {object + (i - beam * n_object_modes) * object_mode_stride + windows.at(beam, y),
            power / static_cast<Real>(windows.n_sub_positions)};
  }
};

/// Adds conj(object) wave of every beam and object mode to its slot's sum; image i is slot
/// first + i / n_modes.
struct SlotGradient {
  Windows windows;
  const complex* object;
  std::int64_t object_mode_stride;
  ChunkImages waves;  ///< by beam
  ChunkImages slot_sums;
  int n_modes;
  int n_object_modes;
  Real scale;
  int first;
  int n_beams;

  struct Row {
    const complex* object;
    const complex* wave;
    Real scale;
    KOKKOS_FUNCTION complex of(const int x, const complex wave_there) const {
      const Real re = object[x].real() * scale;
      const Real im = object[x].imag() * scale;
      return {re * wave_there.real() + im * wave_there.imag(),
              re * wave_there.imag() - im * wave_there.real()};
    }
    KOKKOS_FUNCTION complex operator()(const int x) const { return of(x, wave[x]); }
  };
  KOKKOS_FUNCTION complex* sums(const int i, const int y) const {
    return slot_sums.row(first + i / n_modes, i % n_modes, y);
  }
  /// The beams of a slot follow one another: the first one whose slot is not less.
  KOKKOS_FUNCTION int first_beam(const int slot) const {
    int begin = 0;
    int end = n_beams;
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
    return {first_beam(slot) * n_object_modes, first_beam(slot + 1) * n_object_modes};
  }
  KOKKOS_FUNCTION Row row(const int term, const int i, const int y) const {
    const int beam = term / n_object_modes;
    const int o = term - beam * n_object_modes;
    const int m = i % n_modes;
    return {object + o * object_mode_stride + windows.at(beam, y),
            waves.row(beam, o * n_modes + m, y), scale};
  }
};

/// The same of waves less those of object and probe; without object modes and sub-positions.
struct SlotResidual : SlotGradient {
  ChunkImages probe;       ///< by slot
  bool waves_by_position;  ///< not by beam

  struct Row {
    SlotGradient::Row gradient;
    const complex* probe;
    KOKKOS_FUNCTION complex operator()(const int x) const {
      return gradient.of(x, gradient.wave[x] - probe[x] * gradient.object[x]);
    }
  };
  KOKKOS_FUNCTION Row row(const int beam, const int i, const int y) const {
    const int m = i % n_modes;
    return {{object + windows.at(beam, y),
             waves.row(waves_by_position ? windows.position(beam) : beam, m, y), scale},
            probe.row(first + i / n_modes, m, y)};
  }
};

}  // namespace tessera::physics

#pragma once
/// What Illumination does to every pixel.

#include "chunk_kernels.hpp"
#include "device/sums.hpp"
#include "physics/shared_shifts.hpp"

namespace tessera::physics {

/// exp(-2 pi i k s / n) for the signed frequency of bin k: moves an image of n pixels by +s.
KOKKOS_FUNCTION inline complex shift_factor(int k, int n, Real s) {
  const Real angle = Real(-2 * M_PI) * Real(signed_bin(k, n)) * s / Real(n);
  return {device::math::cos(angle), device::math::sin(angle)};
}

/// Fourier factors of the slots: of their shared shifts from first_slot on, or of each beam's own.
struct MakeRamps {
  DeviceView<Real* [2]> shift;
  Windows windows;
  SlotRamps ramps;
  Shape2 window;
  int first_slot;
  KOKKOS_FUNCTION void operator()(int, const int slot, const int k) const {
    const int at = windows.own_probes ? windows.place(slot) : first_slot + slot;
    if (k < window.h) {
      ramps.y(slot, k) = shift_factor(k, window.h, shift(at, 0));
    } else {
      ramps.x(slot, k - window.h) = shift_factor(k - window.h, window.w, shift(at, 1));
    }
  }
};

/// How the probe's planes make the probe of a beam: amplitude * (mode m + for the first one its OPR
/// modes).
struct BeamMixture {
  Windows windows;
  DeviceView<Real**> opr_weight;
  DeviceView<Real*> intensity;
  int n_modes;
  int n_opr;

  KOKKOS_FUNCTION Real amplitude(const int beam) const {
    const Real power = intensity.size() > 0 ? intensity(windows.position(beam)) : Real(1);
    return device::math::sqrt(power / static_cast<Real>(windows.n_sub_positions));
  }
  /// The mode of the beam that plane p is part of, and with which weight.
  KOKKOS_FUNCTION int mode_of(const int plane) const { return plane < n_modes ? plane : 0; }
  KOKKOS_FUNCTION Real weight(const int beam, const int plane) const {
    return plane < n_modes ? Real(1) : opr_weight(windows.position(beam), plane - n_modes);
  }
};

/// More are refused by the deck.
inline constexpr int max_opr = 16;

/// with_known_modes where there may be none: -1 where n_opr is not known.
template <class F>
void with_known_opr(int n_opr, const F& f) {
  if (n_opr == 0) return f(std::integral_constant<int, 0>());
  with_known_modes(n_opr, [&](auto known) {
    f(std::integral_constant<int, known == 0 ? -1 : static_cast<int>(known)>());
  });
}

/// Row y of mode m of a beam's spectrum, its OPR modes mixed in, before it is shifted and scaled.
template <int known_opr>
struct MixedRow {
  static constexpr int room = known_opr < 0 ? max_opr : known_opr;
  const complex* mode;
  const complex* opr;  ///< of the first
  std::int64_t stride;
  int n_opr;
  Real weight[room + 1];  // an array of none there is not

  KOKKOS_FUNCTION MixedRow(const BeamMixture& mixture, const ChunkImages& planes, const int beam,
                           const int m, const int y)
      : mode(planes.row(0, m, y)),
        opr(planes.row(0, mixture.n_modes, y)),
        stride(planes.mode_stride),
        n_opr(known_opr < 0 ? mixture.n_opr : known_opr) {
    for (int k = 0; k < n_opr; ++k)
      weight[k] = m == 0 ? mixture.weight(beam, mixture.n_modes + k) : Real(0);
  }
  KOKKOS_FUNCTION complex operator()(const int x) const {
    complex sum = mode[x];
    const int n = known_opr < 0 ? n_opr : known_opr;
    for (int k = 0; k < n; ++k) sum += weight[k] * opr[k * stride + x];
    return sum;
  }
};

/// Spectra of the probes of all beams, mixed, scaled and shifted.
template <int known_opr>
struct ShiftBeams {
  BeamMixture mixture;
  ChunkImages spectrum;
  ChunkImages shifted;
  SlotRamps ramps;
  Real scale;

  struct Row {
    MixedRow<known_opr> mixed;
    const complex* ramp_x;
    complex* shifted;
    complex factor;
    KOKKOS_FUNCTION void operator()(const int x) const {
      shifted[x] = mixed(x) * (factor * ramp_x[x]);
    }
  };
  KOKKOS_FUNCTION Row row(const int i, const int y) const {
    const int beam = i / mixture.n_modes;
    const int m = i - beam * mixture.n_modes;
    return {{mixture, spectrum, beam, m, y},
            &ramps.x(beam, 0),
            shifted.row(beam, m, y),
            ramps.y(beam, y) * (scale * mixture.amplitude(beam))};
  }
};

/// Adds to every plane of the probe what the beams' spectra, shifted back by the conjugate ramps,
/// say of it. They stay.
struct GatherBeams {
  BeamMixture mixture;
  ChunkImages slot_sums;
  ChunkImages probe_sum;
  SlotRamps ramps;
  int n_beams;

  struct Row {
    const complex* spectrum;
    const complex* ramp_x;
    complex factor;
    KOKKOS_FUNCTION complex operator()(const int x) const {
      return factor * Kokkos::conj(ramp_x[x]) * spectrum[x];
    }
  };
  KOKKOS_FUNCTION complex* sums(const int plane, const int y) const {
    return probe_sum.row(0, plane, y);
  }
  KOKKOS_FUNCTION device::TermRange terms(int) const { return {0, n_beams}; }
  KOKKOS_FUNCTION Row row(const int beam, const int plane, const int y) const {
    return {
        slot_sums.row(beam, mixture.mode_of(plane), y), &ramps.x(beam, 0),
        Kokkos::conj(ramps.y(beam, y)) * (mixture.amplitude(beam) * mixture.weight(beam, plane))};
  }
};

}  // namespace tessera::physics

#pragma once
/// What Illumination does to every pixel.

#include "tessera/physics/illumination.hpp"

#include "chunk_kernels.hpp"

namespace tessera::physics {

/// exp(-2 pi i k s / n) for the signed frequency of bin k: moves an image of n pixels by +s.
KOKKOS_FUNCTION inline complex shift_factor(int k, int n, Real s) {
  const Real angle = Real(-2 * M_PI) * Real(signed_bin(k, n)) * s / Real(n);
  return {device::math::cos(angle), device::math::sin(angle)};
}

/// Fourier factors of the slots: of their shared shifts from first_slot on, or of each beam's own.
struct ShiftRamps {
  DeviceView<Real* [2]> shift;
  Windows windows;
  DeviceView<complex**> ramp_y;
  DeviceView<complex**> ramp_x;
  Shape2 window;
  int first_slot;
  KOKKOS_FUNCTION void operator()(int, const int slot, const int k) const {
    const int at = windows.own_probes ? windows.place(slot) : first_slot + slot;
    if (k < window.h) {
      ramp_y(slot, k) = shift_factor(k, window.h, shift(at, 0));
    } else {
      ramp_x(slot, k - window.h) = shift_factor(k - window.h, window.w, shift(at, 1));
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
  /// Mode m of the mixed spectrum at one pixel, whose planes lie mode_stride apart.
  KOKKOS_FUNCTION complex mixed(const int beam, const int m, const complex* spectrum,
                                const std::int64_t mode_stride) const {
    complex sum = spectrum[m * mode_stride];
    if (m == 0)
      for (int k = n_modes; k < n_modes + n_opr; ++k)
        sum += weight(beam, k) * spectrum[k * mode_stride];
    return sum;
  }
};

/// ShiftSpectrum where every beam has a probe of its own.
struct MixSpectrum {
  BeamMixture mixture;
  ChunkImages spectrum;
  ChunkImages shifted;
  DeviceView<complex**> ramp_y;
  DeviceView<complex**> ramp_x;
  Real scale;

  struct Row {
    BeamMixture mixture;
    int beam;
    int m;
    const complex* spectrum;  ///< of plane 0
    std::int64_t mode_stride;
    const complex* ramp_x;
    complex* shifted;
    complex factor;
    KOKKOS_FUNCTION void operator()(const int x) const {
      shifted[x] = mixture.mixed(beam, m, spectrum + x, mode_stride) * (factor * ramp_x[x]);
    }
  };
  KOKKOS_FUNCTION Row row(const int i, const int y) const {
    const int beam = i / mixture.n_modes;
    const int m = i - beam * mixture.n_modes;
    return {mixture,
            beam,
            m,
            spectrum.row(0, 0, y),
            spectrum.mode_stride,
            &ramp_x(beam, 0),
            shifted.row(beam, m, y),
            ramp_y(beam, y) * (scale * mixture.amplitude(beam))};
  }
};

/// GatherSlots where every beam has a probe of its own: adds to every plane of the probe what the
/// beams' spectra say of it. They stay.
struct GatherBeams {
  BeamMixture mixture;
  ChunkImages slot_sums;
  ChunkImages probe_sum;
  DeviceView<complex**> ramp_y;
  DeviceView<complex**> ramp_x;
  int n_beams;

  struct Row {
    const complex* spectrum;
    const complex* ramp_x;
    complex* sum;
    complex factor;
    KOKKOS_FUNCTION void operator()(const int x) const {
      sum[x] += factor * Kokkos::conj(ramp_x[x]) * spectrum[x];
    }
  };
  KOKKOS_FUNCTION device::TermRange terms(int) const { return {0, n_beams}; }
  KOKKOS_FUNCTION Row row(const int beam, const int plane, const int y) const {
    return {
        slot_sums.row(beam, mixture.mode_of(plane), y), &ramp_x(beam, 0),
        probe_sum.row(0, plane, y),
        Kokkos::conj(ramp_y(beam, y)) * (mixture.amplitude(beam) * mixture.weight(beam, plane))};
  }
};

/// Slopes and curvatures of a position's own parameters (ParameterSlopes), a team a position. The
/// derivative of the probe by a parameter has a spectrum D; the slope is Re <D, S> with S the
/// spectrum of the slot's sum, the curvature <D, D> times the object's mean |O|^2 in the beam. Not
/// so by a position: most of that D only shifts the exit wave, which no detector in the far field
/// sees. What is left is a shift of the object under the probe, of curvature ||P dO||^2.
struct AddBeamSlopes {
  using Team = Kokkos::TeamPolicy<device::Device>::member_type;
  BeamMixture mixture;
  ChunkImages spectrum;
  ChunkImages slot_sums;    ///< spectra
  ChunkImages slot_probes;  ///< images
  const complex* object;
  std::int64_t slice_stride;
  int n_slices;
  DeviceView<complex**> ramp_y;
  DeviceView<complex**> ramp_x;
  Shape2 window;
  FittedParameters fitted;
  DeviceView<double** [2]> slopes;

  /// Mean |object|^2 that beam i sees, weighted by its probe.
  KOKKOS_FUNCTION double transmission(const Team& team, const int beam) const {
    double lit = 0;
    double sent = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, static_cast<int>(window.size())),
        [&](const int pixel, double& sum) { sum += power_at(beam, pixel, true); }, lit);
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, static_cast<int>(window.size())),
        [&](const int pixel, double& sum) { sum += power_at(beam, pixel, false); }, sent);
    return sent > 0 ? lit / sent : 1;
  }
  KOKKOS_FUNCTION Real probe_power(const int beam, const int y, const int x) const {
    Real power = 0;
    for (int m = 0; m < mixture.n_modes; ++m) {
      const complex p = slot_probes.row(beam, m, y)[x];
      power += p.real() * p.real() + p.imag() * p.imag();
    }
    return power;
  }
  KOKKOS_FUNCTION double power_at(const int beam, const int pixel, const bool behind) const {
    const int y = pixel / window.w;
    const int x = pixel - y * window.w;
    const Real power = probe_power(beam, y, x);
    if (!behind) return static_cast<double>(power);
    const complex o = object[mixture.windows.at(beam, y) + x];
    return static_cast<double>(power * (o.real() * o.real() + o.imag() * o.imag()));
  }
  /// |P dO|^2 by central differences; slices' gradients add up.
  KOKKOS_FUNCTION double moved_power_at(const int beam, const int axis, const int pixel) const {
    const int y = pixel / window.w;
    const int x = pixel - y * window.w;
    const int step_y = axis == ParameterSlopes::y ? 1 : 0;
    const int step_x = 1 - step_y;
    const bool is_inside =
        y >= step_y && y + step_y < window.h && x >= step_x && x + step_x < window.w;
    if (!is_inside) return 0;
    const std::int64_t step = step_y * mixture.windows.object_w + step_x;
    complex d = 0;
    for (int slice = 0; slice < n_slices; ++slice) {
      const complex* at = object + slice * slice_stride + mixture.windows.at(beam, y) + x;
      d += (at[step] - at[-step]) * Real(0.5);
    }
    return static_cast<double>(probe_power(beam, y, x) *
                               (d.real() * d.real() + d.imag() * d.imag()));
  }
  /// D conj: what one pixel of mode m says of column u.
  KOKKOS_FUNCTION void add_pixel(const int beam, const int u, const int pixel, double& slope,
                                 double& curvature) const {
    const int y = pixel / window.w;
    const int x = pixel - y * window.w;
    const complex ramp = ramp_y(beam, y) * ramp_x(beam, x) * mixture.amplitude(beam);
    const complex* at = spectrum.row(0, 0, y) + x;
    if (u >= ParameterSlopes::opr) {
      const int plane = mixture.n_modes + u - ParameterSlopes::opr;
      add(ramp * at[plane * spectrum.mode_stride], slot_sums.row(beam, 0, y)[x], slope, curvature);
      return;
    }
    complex factor;  // of the mixed spectrum
    if (u == ParameterSlopes::intensity)
      factor = Real(0.5) / mixture.intensity(mixture.windows.position(beam));
    else
      factor = complex(0, u == ParameterSlopes::y
                              ? Real(-2 * M_PI) * Real(signed_bin(y, window.h)) / Real(window.h)
                              : Real(-2 * M_PI) * Real(signed_bin(x, window.w)) / Real(window.w));
    for (int m = 0; m < mixture.n_modes; ++m)
      add(factor * ramp * mixture.mixed(beam, m, at, spectrum.mode_stride),
          slot_sums.row(beam, m, y)[x], slope, curvature);
  }
  KOKKOS_FUNCTION static void add(const complex d, const complex s, double& slope,
                                  double& curvature) {
    slope += static_cast<double>(d.real() * s.real() + d.imag() * s.imag());
    curvature += static_cast<double>(d.real() * d.real() + d.imag() * d.imag());
  }
  KOKKOS_FUNCTION bool is_fitted(const int u) const {
    if (u >= ParameterSlopes::opr) return fitted.opr;
    return u == ParameterSlopes::intensity ? fitted.intensity : fitted.positions;
  }
  KOKKOS_FUNCTION void add_column(const Team& team, const int beam, const int u,
                                  const double transmitted) const {
    double slope = 0;
    double curvature = 0;
    const int n_pixels = static_cast<int>(window.size());
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, n_pixels),
        [&](const int pixel, double& sum) {
          double ignored = 0;
          add_pixel(beam, u, pixel, sum, ignored);
        },
        slope);
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, n_pixels),
        [&](const int pixel, double& sum) {
          double ignored = 0;
          add_pixel(beam, u, pixel, ignored, sum);
        },
        curvature);
    double moved = 0;
    if (u < ParameterSlopes::intensity)
      Kokkos::parallel_reduce(
          Kokkos::TeamThreadRange(team, n_pixels),
          [&](const int pixel, double& sum) { sum += moved_power_at(beam, u, pixel); }, moved);
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      const int position = mixture.windows.position(beam);
      slopes(position, u, 0) += slope / static_cast<double>(n_pixels);
      slopes(position, u, 1) += u < ParameterSlopes::intensity
                                    ? moved
                                    : transmitted * curvature / static_cast<double>(n_pixels);
    });
    team.team_barrier();
  }
  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const int n_sub = mixture.windows.n_sub_positions;
    for (int t = 0; t < n_sub; ++t) {
      const int beam = team.league_rank() * n_sub + t;
      const double transmitted = transmission(team, beam);
      for (int u = 0; u < static_cast<int>(slopes.extent(1)); ++u)
        if (is_fitted(u)) add_column(team, beam, u, transmitted);
    }
  }
};

}  // namespace tessera::physics

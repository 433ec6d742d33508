#pragma once
/// What Illumination does to every pixel.

#include "tessera/device/sums.hpp"
#include "tessera/physics/illumination.hpp"
#include "tessera/physics/inner_product.hpp"

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
    complex factor;
    KOKKOS_FUNCTION complex operator()(const int x) const {
      const complex term = factor * Kokkos::conj(ramp_x[x]) * spectrum[x];
      spectrum[x] = complex(0);
      return term;
    }
  };
  KOKKOS_FUNCTION complex* sums(const int m, const int y) const { return probe_sum.row(0, m, y); }
  KOKKOS_FUNCTION device::TermRange terms(int) const { return {0, n_slots}; }
  KOKKOS_FUNCTION Row row(const int slot, const int m, const int y) const {
    return {slot_sums.row(slot, m, y), &ramp_x(slot, 0), Kokkos::conj(ramp_y(slot, y))};
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
        slot_sums.row(beam, mixture.mode_of(plane), y), &ramp_x(beam, 0),
        Kokkos::conj(ramp_y(beam, y)) * (mixture.amplitude(beam) * mixture.weight(beam, plane))};
  }
};

/// Which columns of ParameterSlopes are fitted.
struct FittedColumns {
  static constexpr int most = ParameterSlopes::opr + 16;
  int column[most] = {};
  int count = 0;

  FittedColumns(const FittedParameters& fitted, int n_columns) {
    for (int u = 0; u < n_columns; ++u) {
      const bool is_fitted = u >= ParameterSlopes::opr         ? fitted.opr
                             : u == ParameterSlopes::intensity ? fitted.intensity
                                                               : fitted.positions;
      if (is_fitted) column[count++] = u;
    }
  }
};

/// What a beam says of one of its parameters, image by (beam, fitted column). The derivative of the
/// probe by the parameter has a spectrum D; the slope is Re <D, S> with S the spectrum of the
/// slot's sum, the curvature <D, D> times the object's mean |O|^2 in the beam. Not so by a
/// position: most of that D only shifts the exit wave, which no detector in the far field sees.
/// What is left is a shift of the object under the probe, of curvature ||P dO||^2.
struct BeamSlopes {
  static constexpr int slope = 0;
  static constexpr int curvature = 1;
  static constexpr int moved = 2;  ///< |P dO|^2
  static constexpr int lit = 3;    ///< |P O|^2
  static constexpr int sent = 4;   ///< |P|^2
  static constexpr int n = 5;

  FittedColumns columns;
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

  struct Row {
    const BeamSlopes& of;
    int beam;
    int u;
    int y;
    Real amplitude;
    KOKKOS_FUNCTION void operator()(const int x, Real* sum) const {
      of.add_spectra(beam, u, y, x, amplitude, sum);
      of.add_images(beam, u, y, x, sum);
    }
  };
  KOKKOS_FUNCTION Row row(const int i, const int y) const {
    const int beam = i / columns.count;
    return {*this, beam, columns.column[i - beam * columns.count], y, mixture.amplitude(beam)};
  }

  KOKKOS_FUNCTION void add_spectra(const int beam, const int u, const int y, const int x,
                                   const Real amplitude, Real* sum) const {
    const complex ramp = ramp_y(beam, y) * ramp_x(beam, x) * amplitude;
    const complex* at = spectrum.row(0, 0, y) + x;
    if (u >= ParameterSlopes::opr) {
      const int plane = mixture.n_modes + u - ParameterSlopes::opr;
      add(ramp * at[plane * spectrum.mode_stride], slot_sums.row(beam, 0, y)[x], sum);
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
          slot_sums.row(beam, m, y)[x], sum);
  }
  KOKKOS_FUNCTION static void add(const complex d, const complex s, Real* sum) {
    sum[slope] += real_product(d, s);
    sum[curvature] += squared_magnitude(d);
  }

  KOKKOS_FUNCTION void add_images(const int beam, const int u, const int y, const int x,
                                  Real* sum) const {
    Real power = 0;
    for (int m = 0; m < mixture.n_modes; ++m)
      power += squared_magnitude(slot_probes.row(beam, m, y)[x]);
    const complex* at = object + mixture.windows.at(beam, y) + x;
    if (u < ParameterSlopes::intensity) {
      sum[moved] += power * object_gradient(at, u, y, x);
      return;
    }
    sum[sent] += power;
    sum[lit] += power * squared_magnitude(*at);
  }
  /// |dO|^2 by central differences; slices' gradients add up.
  KOKKOS_FUNCTION Real object_gradient(const complex* at, const int u, const int y,
                                       const int x) const {
    const int step_y = u == ParameterSlopes::y ? 1 : 0;
    const int step_x = 1 - step_y;
    const bool is_inside =
        y >= step_y && y + step_y < window.h && x >= step_x && x + step_x < window.w;
    if (!is_inside) return 0;
    const std::int64_t step = step_y * mixture.windows.object_w + step_x;
    complex d = 0;
    for (int slice = 0; slice < n_slices; ++slice) {
      const complex* here = at + slice * slice_stride;
      d += (here[step] - here[-step]) * Real(0.5);
    }
    return squared_magnitude(d);
  }
};

/// The sums of a position's beams to its slopes.
struct TakeBeamSlopes {
  FittedColumns columns;
  Windows windows;
  DeviceView<double * [BeamSlopes::n]> sums;
  DeviceView<double** [2]> slopes;
  double unit;  ///< of products of spectra
  KOKKOS_FUNCTION void operator()(const int j) const {
    const int n_sub = windows.n_sub_positions;
    const int position = windows.position(j * n_sub);
    for (int t = 0; t < n_sub; ++t)
      for (int c = 0; c < columns.count; ++c) {
        const int i = (j * n_sub + t) * columns.count + c;
        const int u = columns.column[c];
        const double sent = sums(i, BeamSlopes::sent);
        const double transmitted = sent > 0 ? sums(i, BeamSlopes::lit) / sent : 1;
        slopes(position, u, 0) += unit * sums(i, BeamSlopes::slope);
        slopes(position, u, 1) += u < ParameterSlopes::intensity
                                      ? sums(i, BeamSlopes::moved)
                                      : unit * transmitted * sums(i, BeamSlopes::curvature);
      }
  }
};

}  // namespace tessera::physics

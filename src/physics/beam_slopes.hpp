#pragma once
/// What the parameters of a position, or of its sub-positions, change: slopes and curvatures.

#include "illumination_kernels.hpp"
#include "physics/inner_product.hpp"

namespace tessera::physics {

/// Which columns of ParameterSlopes are fitted.
struct FittedColumns {
  static constexpr int max = ParameterSlopes::opr + max_opr;
  int column[max] = {};
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

/// What a beam says of its parameters. The derivative of the probe by one of them has a spectrum D;
/// the slope is Re <D, S> with S the spectrum of the slot's sum, the curvature <D, D> times the
/// object's mean |O|^2 in the beam. With the spectrum d of the probe D is i k d by a position,
/// d / (2 I) by the intensity. The curvature by a position is another: most of that D only shifts
/// the exit wave, which no detector in the far field sees. What is left is a shift of the object
/// under the probe, of curvature ||P dO||^2. Rows of all modes.
template <int known_opr>
struct SpectrumSlopes {
  static constexpr int y = 0;      ///< Re <i k_y d, S>
  static constexpr int x = 1;      ///< Re <i k_x d, S>
  static constexpr int along = 2;  ///< Re <d, S>
  static constexpr int power = 3;  ///< <d, d>
  static constexpr int n = 4;

  BeamMixture mixture;
  ChunkImages spectrum;
  ChunkImages slot_sums;  ///< spectra
  SlotRamps ramps;
  Shape2 window;

  struct Row {
    MixedRow<known_opr> mixed;
    const complex* slot_sum;
    const complex* ramp_x;
    complex factor;
    Real k_y;
    int w;
    KOKKOS_FUNCTION void operator()(const int column, Real* sum) const {
      const complex d = mixed(column) * (factor * ramp_x[column]);
      const complex s = slot_sum[column];
      const Real turned = d.real() * s.imag() - d.imag() * s.real();  // Re <i d, S>
      sum[y] += k_y * turned;
      sum[x] += wave_number(column, w) * turned;
      sum[along] += real_product(d, s);
      sum[power] += squared_magnitude(d);
    }
  };
  KOKKOS_FUNCTION static Real wave_number(const int k, const int size) {
    return Real(-2 * M_PI) / Real(size) * Real(signed_bin(k, size));
  }
  KOKKOS_FUNCTION Row row(const int beam, const int row_of_all) const {
    const int m = row_of_all / window.h;
    const int ky = row_of_all - m * window.h;
    return {{mixture, spectrum, beam, m, ky},
            slot_sums.row(beam, m, ky),
            &ramps.x(beam, 0),
            ramps.y(beam, ky) * mixture.amplitude(beam),
            wave_number(ky, window.h),
            window.w};
  }
};

/// The same of every OPR mode, image by (beam, OPR mode).
struct OprSlopes {
  static constexpr int slope = 0;
  static constexpr int power = 1;
  static constexpr int n = 2;

  BeamMixture mixture;
  ChunkImages spectrum;
  ChunkImages slot_sums;  ///< spectra
  SlotRamps ramps;

  struct Row {
    const complex* plane;
    const complex* slot_sum;
    const complex* ramp_x;
    complex factor;
    KOKKOS_FUNCTION void operator()(const int x, Real* sum) const {
      const complex d = plane[x] * (factor * ramp_x[x]);
      sum[slope] += real_product(d, slot_sum[x]);
      sum[power] += squared_magnitude(d);
    }
  };
  KOKKOS_FUNCTION Row row(const int i, const int y) const {
    const int beam = i / mixture.n_opr;
    const int plane = mixture.n_modes + i - beam * mixture.n_opr;
    return {spectrum.row(0, plane, y), slot_sums.row(beam, 0, y), &ramps.x(beam, 0),
            ramps.y(beam, y) * mixture.amplitude(beam)};
  }
};

/// ||P dO||^2 of a beam by y and by x, from central differences: those of slices add up. Rows and
/// columns inside the window, of all modes.
/// @tparam known_slices as with_known_modes has it
template <int known_slices>
struct ObjectMoves {
  static constexpr int y = 0;
  static constexpr int x = 1;
  static constexpr int n = 2;

  Windows windows;
  ChunkImages slot_probes;
  const complex* object;
  std::int64_t slice_stride;
  int n_slices;
  int inner_h;

  struct Row {
    const complex* probe;
    const complex* object;
    std::int64_t slice_stride;
    std::int64_t step_y;
    int n_slices;
    KOKKOS_FUNCTION void operator()(const int column, Real* sum) const {
      const int slices = known_slices > 0 ? known_slices : n_slices;
      complex by_y = 0;
      complex by_x = 0;
      for (int slice = 0; slice < slices; ++slice) {
        const complex* at = object + slice * slice_stride + column;
        by_y += at[step_y] - at[-step_y];
        by_x += at[1] - at[-1];
      }
      const Real power = Real(0.25) * squared_magnitude(probe[column]);
      sum[y] += power * squared_magnitude(by_y);
      sum[x] += power * squared_magnitude(by_x);
    }
  };
  KOKKOS_FUNCTION Row row(const int beam, const int row_of_all) const {
    const int m = row_of_all / inner_h;
    const int window_y = 1 + row_of_all - m * inner_h;
    return {slot_probes.row(beam, m, window_y) + 1, object + windows.at(beam, window_y) + 1,
            slice_stride, windows.object_w, n_slices};
  }
};

/// How much of a beam's power the object sends on; rows of all modes.
struct ObjectInBeam {
  static constexpr int lit = 0;   ///< |P O|^2
  static constexpr int sent = 1;  ///< |P|^2
  static constexpr int n = 2;

  Windows windows;
  ChunkImages slot_probes;
  const complex* object;
  int h;

  struct Row {
    const complex* probe;
    const complex* object;
    KOKKOS_FUNCTION void operator()(const int x, Real* sum) const {
      const Real power = squared_magnitude(probe[x]);
      sum[lit] += power * squared_magnitude(object[x]);
      sum[sent] += power;
    }
  };
  KOKKOS_FUNCTION Row row(const int beam, const int row_of_all) const {
    const int m = row_of_all / h;
    const int y = row_of_all - m * h;
    return {slot_probes.row(beam, m, y), object + windows.at(beam, y)};
  }
};

/// The sums of a position's beams to its slopes.
struct TakeBeamSlopes {
  using OfSpectrum = SpectrumSlopes<0>;
  using Moves = ObjectMoves<1>;
  FittedColumns columns;
  BeamMixture mixture;
  DeviceView<double * [OfSpectrum::n]> of_spectrum;
  DeviceView<double * [OprSlopes::n]> of_opr;
  DeviceView<double * [Moves::n]> moves;
  DeviceView<double * [ObjectInBeam::n]> of_object;
  DeviceView<double** [2]> slopes;
  double unit;  ///< of products of spectra

  KOKKOS_FUNCTION void operator()(const int j) const {
    const int n_sub = mixture.windows.n_sub_positions;
    for (int beam = j * n_sub; beam < (j + 1) * n_sub; ++beam)
      for (int c = 0; c < columns.count; ++c) add(beam, columns.column[c]);
  }
  KOKKOS_FUNCTION void add(const int beam, const int u) const {
    const int position = mixture.windows.position(beam);
    double slope = 0;
    double curvature = 0;
    if (u >= ParameterSlopes::opr) {
      const int i = beam * mixture.n_opr + u - ParameterSlopes::opr;
      slope = unit * of_opr(i, OprSlopes::slope);
      curvature = unit * transmitted(beam) * of_opr(i, OprSlopes::power);
    } else if (u == ParameterSlopes::intensity) {
      const double rate = 0.5 / static_cast<double>(mixture.intensity(position));
      slope = unit * rate * of_spectrum(beam, OfSpectrum::along);
      curvature = unit * transmitted(beam) * rate * rate * of_spectrum(beam, OfSpectrum::power);
    } else {
      const bool by_y = u == ParameterSlopes::y;
      slope = unit * of_spectrum(beam, by_y ? OfSpectrum::y : OfSpectrum::x);
      curvature = moves(beam, by_y ? Moves::y : Moves::x);
    }
    slopes(position, u, 0) += slope;
    slopes(position, u, 1) += curvature;
  }
  KOKKOS_FUNCTION double transmitted(const int beam) const {
    const double sent = of_object(beam, ObjectInBeam::sent);
    return sent > 0 ? of_object(beam, ObjectInBeam::lit) / sent : 1;
  }
};

}  // namespace tessera::physics

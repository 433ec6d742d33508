#include "physics/near_field.hpp"

#include "forward_kernels.hpp"
#include "free_space.hpp"

namespace tessera::physics {

using device::Device;

namespace {

struct MakeNearField {
  Shape2 window;
  double wavelength_m;
  double pixel_m;
  double distance_m;
  bool is_fresnel;
  double scale;
  DeviceView<complex**> propagator;
  KOKKOS_FUNCTION void operator()(int, const int ky, const int kx) const {
    const double fy = spatial_frequency(ky, window.h, pixel_m);
    const double fx = spatial_frequency(kx, window.w, pixel_m);
    const double k2 = fy * fy + fx * fx;
    const double cycles = is_fresnel ? -wavelength_m * k2 / 2 : axial_frequency(k2, wavelength_m);
    const double angle = 2 * M_PI * distance_m * cycles;
    const double size = !is_fresnel && is_evanescent(k2, wavelength_m) ? 0 : scale;
    propagator(ky, kx) = complex(static_cast<Real>(size * device::math::cos(angle)),
                                 static_cast<Real>(size * device::math::sin(angle)));
  }
};

/// To the detector with the shift back, or the conjugate of both.
template <bool back>
struct PropagateBeam {
  Windows windows;
  ChunkImages waves;
  DeviceView<complex**> propagator;
  SlotRamps ramps;  ///< empty: positions are whole pixels
  int n_states;

  struct Row {
    complex* wave;
    const complex* propagator;
    const complex* ramp_x;
    complex ramp_y;
    KOKKOS_FUNCTION void operator()(const int x) const {
      complex factor = propagator[x];
      if (ramp_x) factor *= Kokkos::conj(ramp_y * ramp_x[x]);
      wave[x] *= back ? Kokkos::conj(factor) : factor;
    }
  };
  KOKKOS_FUNCTION Row row(const int i, const int y) const {
    const int slot = windows.slot_of(i / n_states);
    const bool shifts = ramps.y.size() > 0;
    return {waves.row(i, 0, y), &propagator(y, 0), shifts ? &ramps.x(slot, 0) : nullptr,
            shifts ? ramps.y(slot, y) : complex(1)};
  }
};

/// Slope of the shift back, image by (beam, axis), from the spectra of exit wave and chi.
struct ExitSlopes {
  ChunkImages exit_spectra;  ///< by beam
  ChunkImages chi_spectra;
  Shape2 window;
  int n_states;

  struct Row {
    const ExitSlopes& of;
    int beam;
    int axis;
    int y;
    KOKKOS_FUNCTION void operator()(const int x, Real* sum) const {
      const Shape2 window = of.window;
      const Real rate = axis == 0 ? Real(2 * M_PI) * Real(signed_bin(y, window.h)) / Real(window.h)
                                  : Real(2 * M_PI) * Real(signed_bin(x, window.w)) / Real(window.w);
      for (int state = 0; state < of.n_states; ++state) {
        const complex e = of.exit_spectra.row(beam, state, y)[x];
        const complex c = of.chi_spectra.row(beam, state, y)[x];
        // Re <i rate e, c>
        sum[0] += rate * (e.real() * c.imag() - e.imag() * c.real());
      }
    }
  };
  KOKKOS_FUNCTION Row row(const int i, const int y) const { return {*this, i / 2, i % 2, y}; }
};

struct TakeExitSlopes {
  Windows windows;
  DeviceView<double* [1]> sums;
  DeviceView<double** [2]> slopes;
  double unit;
  KOKKOS_FUNCTION void operator()(const int j) const {
    const int n_sub = windows.n_sub_positions;
    for (int t = 0; t < n_sub; ++t)
      for (int axis = 0; axis < 2; ++axis)
        slopes(windows.position(j * n_sub), axis, 0) += unit * sums(2 * (j * n_sub + t) + axis, 0);
  }
};

}  // namespace

NearField::NearField(const ScanTile& scan, const ModelOptions& options,
                     const Illumination& illumination, const fft::Plan& plan,
                     const WavesView& waves)
    : scan_(scan),
      options_(options),
      illumination_(illumination),
      plan_(plan),
      waves_(waves),
      propagator_("tessera::physics::near_field", waves.extent(2), waves.extent(3)),
      sums_("tessera::physics::exit_sums", 2 * options.chunk_size * options.n_sub_positions) {
  const Device exec;
  device::for_each_pixel(
      exec, "tessera::physics::near_field", 1, scan.window,
      MakeNearField{scan.window, options.wavelength_m, options.pixel_m, options.distance_m,
                    options.propagation == Propagation::fresnel,
                    static_cast<double>(plan_.unitary_scale()), propagator_});
  exec.fence();
}

std::int64_t NearField::bytes(const Sizes& sizes) {
  return bytes_of<complex>(sizes.window.size()) +
         bytes_of<double>(2 * sizes.model.chunk_size * sizes.model.n_sub_positions);
}

void NearField::propagate(const Device& exec, const Chunk& chunk, bool back) const {
  const int n = chunk.count * options_.n_waves();
  const int n_states = options_.n_object_modes * options_.n_modes;
  const Windows windows = windows_of(scan_, options_, chunk, 0);
  plan_.forward(exec, waves_.data(), n);
  if (back)
    device::for_each_row_pixel(exec, "tessera::physics::near_field_back", n, scan_.window,
                               PropagateBeam<true>{windows, images_by(1, waves_), propagator_,
                                                   illumination_.ramps(), n_states});
  else
    device::for_each_row_pixel(exec, "tessera::physics::near_field", n, scan_.window,
                               PropagateBeam<false>{windows, images_by(1, waves_), propagator_,
                                                    illumination_.ramps(), n_states});
  plan_.inverse(exec, waves_.data(), n);
}

void NearField::forward(const Device& exec, const Chunk& chunk) const {
  propagate(exec, chunk, false);
}

void NearField::backward(const Device& exec, const Chunk& chunk) const {
  propagate(exec, chunk, true);
}

void NearField::add_position_slopes(const Device& exec, const Chunk& chunk,
                                    const WavesView& exit_waves, Real scale,
                                    const ParameterSlopes& slopes) const {
  if (chunk.count == 0) return;
  const int n = chunk.count * options_.n_waves();
  const int n_states = options_.n_object_modes * options_.n_modes;
  plan_.forward(exec, exit_waves.data(), n);
  plan_.forward(exec, waves_.data(), n);
  const double unit = static_cast<double>(scale) / static_cast<double>(scan_.window.size());
  device::sum_each_image<1>(exec, "tessera::physics::exit_slopes",
                            2 * chunk.count * options_.n_sub_positions, scan_.window,
                            ExitSlopes{images_by(n_states, exit_waves), images_by(n_states, waves_),
                                       scan_.window, n_states},
                            sums_);
  Kokkos::parallel_for(
      device::kernel_name("tessera::physics::take_exit_slopes"),
      Kokkos::RangePolicy<Device>(exec, 0, chunk.count),
      TakeExitSlopes{windows_of(scan_, options_, chunk, 0), sums_, slopes.at_position, unit});
}

}  // namespace tessera::physics

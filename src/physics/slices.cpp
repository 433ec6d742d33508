#include "physics/slices.hpp"

#include "tessera/device/stream.hpp"

#include "chunk_kernels.hpp"
#include "forward_kernels.hpp"
#include "free_space.hpp"
#include "kernel_choice.hpp"

namespace tessera::physics {

using device::Device;
using device::for_each_row_pixel;

namespace {

/// What a distance and a tilt do to the phase of a spatial frequency, in double: the phase of a
/// thick gap is many turns.
struct GapPhase {
  Shape2 window;
  double wavelength_m;
  double pixel_m;
  DeviceView<double[2]> tilt_rad;

  KOKKOS_FUNCTION double frequency(const int k, const int n) const {
    return spatial_frequency(k, n, pixel_m);
  }
  KOKKOS_FUNCTION double squared_frequency(const int ky, const int kx) const {
    return square(frequency(ky, window.h)) + square(frequency(kx, window.w));
  }
  /// d(phase) / d(distance), radians per metre.
  KOKKOS_FUNCTION double per_metre(const int ky, const int kx) const {
    return 2 * M_PI *
           (axial_frequency(squared_frequency(ky, kx), wavelength_m) -
            frequency(ky, window.h) * tan(tilt_rad(0)) -
            frequency(kx, window.w) * tan(tilt_rad(1)));
  }
  /// d(phase) / d(tilt) per metre of distance, along y or x.
  KOKKOS_FUNCTION double per_tilt(const int k, const int n, const int axis) const {
    return -2 * M_PI * frequency(k, n) * (1 + square(tan(tilt_rad(axis))));
  }
  KOKKOS_FUNCTION static double square(const double value) { return value * value; }
  KOKKOS_FUNCTION static double tan(const double angle) {
    return device::math::sin(angle) / device::math::cos(angle);
  }
};

struct MakePropagator {
  GapPhase phase;
  DeviceView<double*> distance_m;
  DeviceView<complex***> propagator;
  double scale;
  KOKKOS_FUNCTION void operator()(const int gap, const int ky, const int kx) const {
    const double angle = distance_m(gap) * phase.per_metre(ky, kx);
    const double size =
        is_evanescent(phase.squared_frequency(ky, kx), phase.wavelength_m) ? 0 : scale;
    propagator(gap, ky, kx) = complex(static_cast<Real>(size * device::math::cos(angle)),
                                      static_cast<Real>(size * device::math::sin(angle)));
  }
};

template <bool back>
struct Propagate {
  ChunkImages waves;
  const complex* propagator;
  struct Row {
    complex* wave;
    const complex* propagator;
    KOKKOS_FUNCTION void operator()(const int x) const {
      wave[x] *= back ? Kokkos::conj(propagator[x]) : propagator[x];
    }
  };
  KOKKOS_FUNCTION Row row(const int i, const int y) const {
    return {waves.row(i, 0, y), propagator + static_cast<std::int64_t>(y) * waves.w};
  }
};

/// Keeps what falls on a slice and multiplies by it.
struct Transmit {
  Windows windows;
  ChunkImages waves;
  ChunkImages incident;
  const complex* object;  ///< of the slice, object mode 0
  std::int64_t object_mode_stride;
  int n_modes;
  int n_object_modes;
  Real inverse_scale;

  struct Row {
    const complex* object;
    complex* wave;
    complex* incident;
    Real inverse_scale;
    KOKKOS_FUNCTION void operator()(const int x) const {
      incident[x] = wave[x] * inverse_scale;
      wave[x] *= object[x];
    }
  };
  KOKKOS_FUNCTION Row row(const int i, const int y) const {
    const int states = n_modes * n_object_modes;
    const int beam = i / states;
    const int o = (i - beam * states) / n_modes;
    return {object + o * object_mode_stride + windows.at(beam, y), waves.row(i, 0, y),
            incident.row(i, 0, y), inverse_scale};
  }
};

/// chi from behind a slice to before it.
struct TransmitBack {
  Windows windows;
  ChunkImages waves;
  const complex* object;
  std::int64_t object_mode_stride;
  int n_modes;
  int n_object_modes;

  struct Row {
    const complex* object;
    complex* wave;
    KOKKOS_FUNCTION void operator()(const int x) const { wave[x] *= Kokkos::conj(object[x]); }
  };
  KOKKOS_FUNCTION Row row(const int i, const int y) const {
    const int states = n_modes * n_object_modes;
    const int beam = i / states;
    const int o = (i - beam * states) / n_modes;
    return {object + o * object_mode_stride + windows.at(beam, y), waves.row(i, 0, y)};
  }
};

/// Slope and curvature by tilt y, tilt x and distance: spectra of what leaves the gap and of chi
/// there.
struct OpticsSlopes {
  GapPhase phase;
  ChunkImages incident;
  ChunkImages waves;
  DeviceView<double*> distance_m;
  int gap;
  struct Row {
    GapPhase phase;
    const complex* incident;
    const complex* wave;
    int ky;
    double distance_m;
    KOKKOS_FUNCTION void operator()(const int x, Real* sum) const {
      // Re <i c v, w> = c Im(conj(v) w)
      const double cross = static_cast<double>(incident[x].real()) * wave[x].imag() -
                           static_cast<double>(incident[x].imag()) * wave[x].real();
      const double power = static_cast<double>(incident[x].real()) * incident[x].real() +
                           static_cast<double>(incident[x].imag()) * incident[x].imag();
      const double rate[3] = {distance_m * phase.per_tilt(ky, phase.window.h, 0),
                              distance_m * phase.per_tilt(x, phase.window.w, 1),
                              phase.per_metre(ky, x)};
      for (int u = 0; u < 3; ++u) {
        sum[2 * u] += static_cast<Real>(rate[u] * cross);
        sum[2 * u + 1] += static_cast<Real>(rate[u] * rate[u] * power);
      }
    }
  };
  KOKKOS_FUNCTION Row row(const int i, const int y) const {
    return {phase, incident.row(i, 0, y), waves.row(i, 0, y), y, distance_m(gap)};
  }
};

/// Adds what was found of tilt y, tilt x and the distance in `distance_row` to the slopes.
void take_slopes(const Device& exec, const DeviceView<double*>& found,
                 const DeviceView<double* [2]>& slopes, const FittedParameters& fitted,
                 int distance_row, double unit, double wave_unit) {
  Kokkos::parallel_for(
      device::kernel_name("tessera::physics::take_optics_slopes"),
      Kokkos::RangePolicy<Device>(exec, 0, 3), KOKKOS_LAMBDA(const int u) {
        if (u < 2 ? !fitted.tilt : !fitted.slice_distance) return;
        const int row = u < 2 ? u : distance_row;
        slopes(row, 0) += wave_unit * found(2 * u);
        slopes(row, 1) += unit * found(2 * u + 1);
      });
}

}  // namespace

Slices::Slices(const ScanTile& scan, const Parameters& parameters, const ModelOptions& options,
               const fft::Plan& plan, const WavesView& waves, bool on_chip)
    : scan_(scan),
      parameters_(parameters),
      options_(options),
      plan_(plan),
      waves_(waves),
      incident_("tessera::physics::incident", static_cast<std::size_t>(options.n_slices - 1),
                waves.extent(0), waves.extent(1), waves.extent(2), waves.extent(3)),
      propagator_("tessera::physics::propagator", static_cast<std::size_t>(options.n_slices - 1),
                  waves.extent(2), waves.extent(3)),
      scratch_("tessera::physics::optics_scratch", 6),
      found_("tessera::physics::optics_slopes", 6) {
  if (on_chip)
    on_chip_ = DeviceView<complex***>("tessera::physics::propagator_on_chip", propagator_.extent(0),
                                      waves.extent(2), waves.extent(3));
}

std::int64_t Slices::bytes(const Sizes& sizes) {
  const int propagators = keeps_slices_on_chip(sizes) ? 2 : 1;
  return (sizes.model.n_slices - 1) * (sizes.model.chunk_size * sizes.waves_bytes() +
                                       propagators * bytes_of<complex>(sizes.window.size())) +
         bytes_of<double>(12);
}

WavesView Slices::incident(int slice) const {
  return WavesView(incident_.data() + (slice - 1) * waves_.size(), waves_.extent(0),
                   waves_.extent(1), waves_.extent(2), waves_.extent(3));
}

hot_path::SliceArrays Slices::fused() const {
  return {.n_slices = options_.n_slices,
          .propagators = plain(propagator_.data()),
          .propagators_on_chip = plain(on_chip_.data()),
          .incident = plain(incident_.data()),
          .incident_stride = static_cast<std::int64_t>(waves_.size())};
}

void Slices::set_optics(const Device& exec) {
  if (on_chip_.data()) {
    make_propagators(exec, 1);
    hot_path::planes_to_chip(device::stream_handle(exec), scan_.window.w, options_.n_slices - 1,
                             plain(propagator_.data()), plain(on_chip_.data()));
  }
  make_propagators(exec, 1 / static_cast<double>(scan_.window.size()));
}

void Slices::make_propagators(const Device& exec, double scale) const {
  const GapPhase phase{scan_.window, options_.wavelength_m, options_.pixel_m, parameters_.tilt_rad};
  device::for_each_pixel(exec, "tessera::physics::propagator", options_.n_slices - 1, scan_.window,
                         MakePropagator{phase, parameters_.slice_distance_m, propagator_, scale});
}

void Slices::propagate(const Device& exec, int gap, int n, bool back) const {
  const complex* propagator = propagator_.data() + gap * scan_.window.size();
  const char* name = "tessera::physics::propagate";
  if (back)
    for_each_row_pixel(exec, name, n, scan_.window,
                       Propagate<true>{images_by(1, waves_), propagator});
  else
    for_each_row_pixel(exec, name, n, scan_.window,
                       Propagate<false>{images_by(1, waves_), propagator});
}

void Slices::forward(const Device& exec, const ObjectView& object, const Chunk& chunk, Real scale) {
  const int n = n_images(chunk);
  const std::int64_t plane = static_cast<std::int64_t>(object.extent(1) * object.extent(2));
  for (int slice = 1; slice < options_.n_slices; ++slice) {
    plan_.forward(exec, waves_.data(), n);
    propagate(exec, slice - 1, n, false);
    plan_.inverse(exec, waves_.data(), n);
    for_each_row_pixel(
        exec, "tessera::physics::transmit", n, scan_.window,
        Transmit{windows_of(scan_, options_, chunk, object.extent(2)), images_by(1, waves_),
                 images_by(1, incident(slice)), object.data() + slice * plane,
                 options_.n_slices * plane, options_.n_modes, options_.n_object_modes, 1 / scale});
  }
}

void Slices::backward(const Device& exec, const ObjectView& object, const Chunk& chunk,
                      const GradientSums& sums, Real scale, const FittedParameters& fitted,
                      const ParameterSlopes& slopes) {
  const int n = n_images(chunk);
  const std::int64_t plane = static_cast<std::int64_t>(object.extent(1) * object.extent(2));
  const Windows windows = windows_of(scan_, options_, chunk, object.extent(2));
  for (int slice = options_.n_slices - 1; slice >= 1; --slice) {
    const int states = options_.n_modes * options_.n_object_modes;
    add_object_gradient(
        exec, chunk, scan_.window, options_,
        {windows, images_by(states, waves_), images_by(states, incident(slice)), false, slice},
        sums, scale);
    for_each_row_pixel(
        exec, "tessera::physics::transmit_back", n, scan_.window,
        TransmitBack{windows, images_by(1, waves_), object.data() + slice * plane,
                     options_.n_slices * plane, options_.n_modes, options_.n_object_modes});
    plan_.forward(exec, waves_.data(), n);
    if (fitted.any_of_optics()) add_optics_slopes(exec, chunk, slice, scale, fitted, slopes);
    propagate(exec, slice - 1, n, true);
    plan_.inverse(exec, waves_.data(), n);
  }
}

void Slices::add_optics_slopes(const Device& exec, const Chunk& chunk, int slice, Real scale,
                               const FittedParameters& fitted, const ParameterSlopes& slopes) {
  const int n = n_images(chunk);
  plan_.forward(exec, incident(slice).data(), n);  // its part in the object's sums is done
  const GapPhase phase{scan_.window, options_.wavelength_m, options_.pixel_m, parameters_.tilt_rad};
  device::set_zero(exec, found_);
  device::add_pixel_sums<6>(exec, "tessera::physics::optics_slopes", n, scan_.window,
                            OpticsSlopes{phase, images_by(1, incident(slice)), images_by(1, waves_),
                                         parameters_.slice_distance_m, slice - 1},
                            scratch_, found_);
  const double unit = 1 / static_cast<double>(scan_.window.size());
  take_slopes(exec, found_, slopes.optics, fitted, slice + 1, unit,
              unit * static_cast<double>(scale));
}

}  // namespace tessera::physics

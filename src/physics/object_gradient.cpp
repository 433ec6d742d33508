#include "object_gradient.hpp"

namespace tessera::physics {

using device::Device;

namespace {

/// Image i of a launch is (beam, object mode), from beam first on.
template <int known_modes, bool atomic>
struct ObjectGradient {
  SliceWaves slice_waves;
  complex* object_sum;  ///< of the slice in object mode 0
  Real* dose;
  std::int64_t object_mode_stride;
  int n_modes;
  int n_object_modes;
  Real scale;
  int first;

  struct Row {
    const complex* incident;
    const complex* wave;
    std::int64_t mode_stride;
    complex* sum;
    Real* dose;
    int n_modes;
    Real scale;
    KOKKOS_FUNCTION void operator()(const int x) const {
      ModeSums modes;
      for (int m = 0; m < (known_modes > 0 ? known_modes : n_modes); ++m)
        modes.add(incident[m * mode_stride + x], wave[m * mode_stride + x]);
      if constexpr (atomic) {
        Kokkos::atomic_add(&sum[x].real(), modes.re * scale);
        Kokkos::atomic_add(&sum[x].imag(), modes.im * scale);
        Kokkos::atomic_add(&dose[x], modes.power);
      } else {
        sum[x].real() += modes.re * scale;
        sum[x].imag() += modes.im * scale;
        dose[x] += modes.power;
      }
    }
  };
  KOKKOS_FUNCTION Row row(const int i, const int y) const {
    const int beam = first + i / n_object_modes;
    const int o = i % n_object_modes;
    const Windows& windows = slice_waves.windows;
    const complex* incident = slice_waves.incident_by_slot
                                  ? slice_waves.incident.row(windows.slot_of(beam), 0, y)
                                  : slice_waves.incident.row(beam, o * n_modes, y);
    const std::int64_t at = o * object_mode_stride + windows.at(beam, y);
    return {incident,
            slice_waves.waves.row(beam, o * n_modes, y),
            slice_waves.waves.mode_stride,
            object_sum + at,
            dose + at,
            n_modes,
            scale};
  }
};

/// Atomics are slow to come back: a thread each.
template <class Kernel>
struct ByPixel {
  Kernel kernel;
  KOKKOS_FUNCTION void operator()(const int i, const int y, const int x) const {
    kernel.row(i, y)(x);
  }
};

}  // namespace

void add_object_gradient(const Device& exec, const Chunk& chunk, Shape2 window,
                         const ModelOptions& options, const SliceWaves& slice_waves,
                         const GradientSums& sums, Real scale) {
  const char* label = "tessera::physics::object_gradient";
  const std::int64_t plane =
      static_cast<std::int64_t>(sums.object.extent(1) * sums.object.extent(2));
  complex* object_sum = sums.object.data() + slice_waves.slice * plane;
  Real* dose = sums.dose.data() + slice_waves.slice * plane;
  const int n_beams = chunk.count * options.n_sub_positions;
  const int n_object_modes = options.n_object_modes;
  with_known_modes(options.n_modes, [&](auto known) {
    if (!options.fixed_order) {
      device::for_each_pixel(exec, label, n_beams * n_object_modes, window,
                             ByPixel<ObjectGradient<known, true>>{
                                 {slice_waves, object_sum, dose, options.n_slices * plane,
                                  options.n_modes, n_object_modes, scale, 0}});
      return;
    }
    // One window after another: no two threads meet in a pixel, and the sum's order is the chunk's.
    for (int beam = 0; beam < n_beams; ++beam)
      device::for_each_row_pixel(
          exec, label, n_object_modes, window,
          ObjectGradient<known, false>{slice_waves, object_sum, dose, options.n_slices * plane,
                                       options.n_modes, n_object_modes, scale, beam});
  });
}

}  // namespace tessera::physics

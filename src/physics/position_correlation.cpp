#include "physics/position_correlation.hpp"

#include "tessera/physics/sizes.hpp"

#include "illumination_kernels.hpp"
#include "physics/inner_product.hpp"

namespace tessera::physics {

using device::Device;

namespace {

/// Each doubles the digits, and an error that matters is a fraction of a pixel.
constexpr int newton_steps = 3;

/// Where the images of a position lie: image i is (beam, object mode).
struct CorrelatedImages {
  Windows windows;
  const complex* object;
  std::int64_t object_mode_stride;
  ChunkImages probes;
  int n_modes;
  int n_object_modes;
  KOKKOS_FUNCTION const complex* object_row(const int i, const int y) const {
    const int beam = i / n_object_modes;
    return object + (i - beam * n_object_modes) * object_mode_stride + windows.at(beam, y);
  }
  KOKKOS_FUNCTION const complex* probe_row(const int i, const int y) const {
    return probes.row(i / n_object_modes, 0, y);
  }
};

struct WeightedMean {
  CorrelatedImages images;

  struct Row {
    const complex* object;
    const complex* probe;
    std::int64_t mode_stride;
    int n_modes;
    KOKKOS_FUNCTION void operator()(const int x, Real* sum) const {
      Real power = 0;
      for (int m = 0; m < n_modes; ++m) power += squared_magnitude(probe[m * mode_stride + x]);
      sum[0] += power * object[x].real();
      sum[1] += power * object[x].imag();
      sum[2] += power;
    }
  };
  KOKKOS_FUNCTION Row row(const int i, const int y) const {
    return {images.object_row(i, y), images.probe_row(i, y), images.probes.mode_stride,
            images.n_modes};
  }
};

/// o, a and u of every image.
struct WeighWindows {
  CorrelatedImages images;
  ChunkImages waves;
  DeviceView<double* [3]> means;
  ChunkImages object;
  ChunkImages window;
  ChunkImages update;
  Real scale;

  struct Row {
    const complex* object;
    const complex* probe;
    std::int64_t probe_stride;
    const complex* wave;
    std::int64_t wave_stride;
    complex* o;
    complex* a;
    complex* u;
    complex mean;
    int n_modes;
    Real scale;
    KOKKOS_FUNCTION void operator()(const int x) const {
      ModeSums modes;
      for (int m = 0; m < n_modes; ++m)
        modes.add(probe[m * probe_stride + x], wave[m * wave_stride + x]);
      o[x] = object[x] - mean;
      a[x] = o[x] * device::math::sqrt(modes.power);
      u[x] = complex(modes.re * scale, modes.im * scale);
    }
  };
  KOKKOS_FUNCTION Row row(const int i, const int y) const {
    const int beam = i / images.n_object_modes;
    const int state = (i - beam * images.n_object_modes) * images.n_modes;
    const double power = means(i, 2) > 0 ? means(i, 2) : 1;
    const complex mean(static_cast<Real>(means(i, 0) / power),
                       static_cast<Real>(means(i, 1) / power));
    return {images.object_row(i, y),
            images.probe_row(i, y),
            images.probes.mode_stride,
            waves.row(beam, state, y),
            waves.mode_stride,
            object.row(i, 0, y),
            window.row(i, 0, y),
            update.row(i, 0, y),
            mean,
            images.n_modes,
            scale};
  }
};

/// object = |A|^2 + conj(U) O
struct Correlate {
  ChunkImages object;
  ChunkImages window;
  ChunkImages update;

  struct Row {
    complex* o;
    const complex* a;
    const complex* u;
    KOKKOS_FUNCTION void operator()(const int x) const {
      o[x] = squared_magnitude(a[x]) + Kokkos::conj(u[x]) * o[x];
    }
  };
  KOKKOS_FUNCTION Row row(const int i, const int y) const {
    return {object.row(i, 0, y), window.row(i, 0, y), update.row(i, 0, y)};
  }
};

struct PeakRamps {
  DeviceView<double* [2]> peak;
  int n_images;
  DeviceView<complex**> ramp_y;
  DeviceView<complex**> ramp_x;
  Shape2 window;
  KOKKOS_FUNCTION void operator()(int, const int i, const int k) const {
    const int j = i / n_images;
    if (k < window.h) {
      ramp_y(i, k) = shift_factor(k, window.h, -static_cast<Real>(peak(j, 0)));
    } else {
      ramp_x(i, k - window.h) =
          shift_factor(k - window.h, window.w, -static_cast<Real>(peak(j, 1)));
    }
  }
};

/// With t_k = (|A_k|^2 + conj(U_k) O_k) exp(2 pi i k s) and w = 2 pi k / n the sums of w_y Im t,
/// w_x Im t, w_y^2 Re t, w_y w_x Re t, w_x^2 Re t: minus the first and second derivatives of c.
struct Moments {
  ChunkImages product;
  DeviceView<complex**> ramp_y;
  DeviceView<complex**> ramp_x;
  Shape2 window;

  struct Row {
    const complex* product;
    const complex* ramp_x;
    complex ramp_y;
    Real w_y;
    int width;
    KOKKOS_FUNCTION void operator()(const int x, Real* sum) const {
      const complex t = product[x] * (ramp_y * ramp_x[x]);
      const Real w_x = Real(2 * M_PI) * Real(signed_bin(x, width)) / Real(width);
      sum[0] += w_y * t.imag();
      sum[1] += w_x * t.imag();
      sum[2] += w_y * w_y * t.real();
      sum[3] += w_y * w_x * t.real();
      sum[4] += w_x * w_x * t.real();
    }
  };
  KOKKOS_FUNCTION Row row(const int i, const int y) const {
    return {product.row(i, 0, y), &ramp_x(i, 0), ramp_y(i, y),
            Real(2 * M_PI) * Real(signed_bin(y, window.h)) / Real(window.h), window.w};
  }
};

/// A step of Newton's to the maximum of c. A peak that curves upwards is none: it stays.
struct StepToPeak {
  DeviceView<double * [PositionCorrelation::n_moments]> moments;
  DeviceView<double* [2]> peak;
  int n_images;

  KOKKOS_FUNCTION void operator()(const int j) const {
    double sum[PositionCorrelation::n_moments] = {};
    for (int i = j * n_images; i < (j + 1) * n_images; ++i)
      for (int k = 0; k < PositionCorrelation::n_moments; ++k) sum[k] += moments(i, k);
    const auto [y, x, yy, yx, xx] = sum;
    const double determinant = yy * xx - yx * yx;
    if (!(yy > 0 && determinant > 0)) return;
    peak(j, 0) = within_pixel(peak(j, 0) - (xx * y - yx * x) / determinant);
    peak(j, 1) = within_pixel(peak(j, 1) - (yy * x - yx * y) / determinant);
  }
  KOKKOS_FUNCTION static double within_pixel(const double s) { return s < -1 ? -1 : s > 1 ? 1 : s; }
};

struct TakePeaks {
  Windows windows;
  DeviceView<double* [2]> peak;
  DeviceView<double** [2]> slopes;
  KOKKOS_FUNCTION void operator()(const int j) const {
    const int position = windows.position(j * windows.n_sub_positions);
    for (int axis = 0; axis < 2; ++axis) {
      slopes(position, ParameterSlopes::y + axis, 0) += peak(j, axis);
      slopes(position, ParameterSlopes::y + axis, 1) += 1;
    }
  }
};

int images_of_position(const ModelOptions& options) {
  return options.n_sub_positions * options.n_object_modes;
}

}  // namespace

PositionCorrelation::PositionCorrelation(const ScanTile& scan, const ModelOptions& options,
                                         const fft::Plan& plan)
    : scan_(scan),
      options_(options),
      plan_(plan),
      n_images_(images_of_position(options)),
      object_("tessera::physics::correlated_object", options.chunk_size, n_images_, scan.window.h,
              scan.window.w),
      window_("tessera::physics::correlated_window", object_.layout()),
      update_("tessera::physics::correlated_update", object_.layout()),
      ramp_y_("tessera::physics::peak_ramp_y", options.chunk_size * n_images_, scan.window.h),
      ramp_x_("tessera::physics::peak_ramp_x", options.chunk_size * n_images_, scan.window.w),
      peak_("tessera::physics::peak", options.chunk_size),
      moments_("tessera::physics::moments", options.chunk_size * n_images_),
      means_("tessera::physics::means", options.chunk_size * n_images_) {}

std::int64_t PositionCorrelation::bytes(const ModelOptions& options, Shape2 window) {
  const std::int64_t image =
      (3 * window.size() + window.h + window.w) * static_cast<std::int64_t>(sizeof(complex));
  const std::int64_t sums = bytes_of<double>(n_moments + 3);
  return options.chunk_size * (images_of_position(options) * (image + sums) + bytes_of<double>(2));
}

void PositionCorrelation::add(const Device& exec, const ObjectView& object, const Chunk& chunk,
                              complex* probes, const WavesView& waves, Real scale,
                              const ParameterSlopes& slopes) const {
  const int n = chunk.count * n_images_;
  if (n == 0) return;
  weigh(exec, object, chunk, probes, waves, scale);
  for (const WavesView& images : {object_, window_, update_}) plan_.forward(exec, images.data(), n);
  device::for_each_row_pixel(
      exec, "tessera::physics::correlate", n, scan_.window,
      Correlate{images_by(1, object_), images_by(1, window_), images_by(1, update_)});
  find_peaks(exec, chunk.count);
  Kokkos::parallel_for(device::kernel_name("tessera::physics::take_peaks"),
                       Kokkos::RangePolicy<Device>(exec, 0, chunk.count),
                       TakePeaks{windows_of(scan_, options_, chunk, 0), peak_, slopes.at_position});
}

void PositionCorrelation::weigh(const Device& exec, const ObjectView& object, const Chunk& chunk,
                                complex* probes, const WavesView& waves, Real scale) const {
  const int n = chunk.count * n_images_;
  const std::int64_t area = scan_.window.size();
  const int states = options_.n_object_modes * options_.n_modes;
  const CorrelatedImages images{windows_of(scan_, options_, chunk, object.extent(2)),
                                object.data(),
                                static_cast<std::int64_t>(object.extent(1) * object.extent(2)),
                                {probes, area * options_.n_modes, area, scan_.window.w},
                                options_.n_modes,
                                options_.n_object_modes};
  device::sum_each_image<3>(exec, "tessera::physics::weighted_mean", n, scan_.window,
                            WeightedMean{images}, means_);
  device::for_each_row_pixel(
      exec, "tessera::physics::weigh_windows", n, scan_.window,
      WeighWindows{images, images_by(states, waves), means_, images_by(1, object_),
                   images_by(1, window_), images_by(1, update_), scale});
}

void PositionCorrelation::find_peaks(const Device& exec, int n_positions) const {
  const int n = n_positions * n_images_;
  device::set_zero(exec, peak_);
  for (int step = 0; step < newton_steps; ++step) {
    device::for_each_pixel(exec, "tessera::physics::peak_ramps", 1,
                           {n, scan_.window.h + scan_.window.w},
                           PeakRamps{peak_, n_images_, ramp_y_, ramp_x_, scan_.window});
    device::sum_each_image<n_moments>(
        exec, "tessera::physics::moments", n, scan_.window,
        Moments{images_by(1, object_), ramp_y_, ramp_x_, scan_.window}, moments_);
    Kokkos::parallel_for(device::kernel_name("tessera::physics::step_to_peak"),
                         Kokkos::RangePolicy<Device>(exec, 0, n_positions),
                         StepToPeak{moments_, peak_, n_images_});
  }
}

}  // namespace tessera::physics

#include "tessera/physics/forward_model.hpp"

namespace tessera::physics {
namespace {

using device::complex;
using device::Device;
using device::DeviceView;
using device::for_each_pixel;

/// Probe of position j of a chunk: its own shifted one, or the common one (position_stride = 0).
struct ProbeOfPosition {
  const complex* data;
  std::int64_t position_stride;
  int w;
  std::int64_t area;
  KOKKOS_FUNCTION const complex& operator()(int j, int m, int y, int x) const {
    return data[j * position_stride + m * area + static_cast<std::int64_t>(y) * w + x];
  }
};

ProbeOfPosition probe_of_position(const ScanTile& scan, const ProbeView& probe,
                                  const WavesView& shifted) {
  const std::int64_t area = scan.window.size();
  if (!scan.has_subpixel) return {probe.data(), 0, scan.window.w, area};
  return {shifted.data(), area * static_cast<std::int64_t>(probe.extent(0)), scan.window.w, area};
}

/// exp(-2 pi i k s / n) for the signed frequency of bin k: moves an image of n pixels by +s.
KOKKOS_FUNCTION complex shift_factor(int k, int n, Real s) {
  const int signed_k = k < (n + 1) / 2 ? k : k - n;
  const Real angle = Real(-2 * M_PI) * Real(signed_k) * s / Real(n);
  return {device::math::cos(angle), device::math::sin(angle)};
}

/// Adds conj(probe) wave and |probe|^2 of one position's pixel to the object's sums.
struct ObjectGradient {
  DeviceView<int*> order;
  DeviceView<int* [2]> corner;
  WavesView waves;
  ProbeOfPosition probe;
  ObjectView object_sum;
  DeviceView<Real***> illumination;
  int n_modes;
  int chunk_begin;
  bool atomic;

  KOKKOS_FUNCTION void operator()(const int j, const int y, const int x) const {
    complex gradient = 0;
    Real power = 0;
    for (int m = 0; m < n_modes; ++m) {
      const complex p = probe(j, m, y, x);
      gradient += Kokkos::conj(p) * waves(j, m, y, x);
      power += p.real() * p.real() + p.imag() * p.imag();
    }
    const int position = order(chunk_begin + j);
    const int object_y = corner(position, 0) + y;
    const int object_x = corner(position, 1) + x;
    complex& sum = object_sum(0, object_y, object_x);
    Real& illuminated = illumination(0, object_y, object_x);
    if (atomic) {
      Kokkos::atomic_add(&sum.real(), gradient.real());
      Kokkos::atomic_add(&sum.imag(), gradient.imag());
      Kokkos::atomic_add(&illuminated, power);
    } else {
      sum += gradient;
      illuminated += power;
    }
  }
};

}  // namespace

ForwardModel::ForwardModel(const ScanTile& scan, int n_modes, int chunk_size, bool fixed_order,
                           fft::Planning planning)
    : scan_(scan),
      n_modes_(n_modes),
      chunk_size_(chunk_size),
      fixed_order_(fixed_order || device::device_is_host),
      plan_(scan.window, planning),
      waves_("tessera::physics::waves", chunk_size, n_modes, scan.window.h, scan.window.w) {
  if (!scan.has_subpixel) return;
  spectrum_ = ProbeView("tessera::physics::probe_spectrum", n_modes, scan.window.h, scan.window.w);
  shifted_probes_ = WavesView("tessera::physics::shifted_probes", chunk_size, n_modes,
                              scan.window.h, scan.window.w);
  ramp_y_ = DeviceView<complex**>("tessera::physics::ramp_y", chunk_size, scan.window.h);
  ramp_x_ = DeviceView<complex**>("tessera::physics::ramp_x", chunk_size, scan.window.w);
}

void ForwardModel::set_probe(const Device& exec, const ProbeView& probe) {
  probe_ = probe;
  if (!scan_.has_subpixel) return;
  Kokkos::deep_copy(exec, spectrum_, probe);
  plan_.forward(exec, spectrum_.data(), n_modes_);
}

void ForwardModel::shift_probe_to(const Device& exec, const Chunk& chunk) {
  const auto order = scan_.order;
  const auto subpixel = scan_.subpixel;
  const auto ramp_y = ramp_y_;
  const auto ramp_x = ramp_x_;
  const int h = scan_.window.h;
  const int w = scan_.window.w;
  for_each_pixel(
      exec, "tessera::physics::shift_ramps", 1, {chunk.count, h + w},
      KOKKOS_LAMBDA(int, const int j, const int k) {
        const int position = order(chunk.begin + j);
        if (k < h) {
          ramp_y(j, k) = shift_factor(k, h, subpixel(position, 0));
        } else {
          ramp_x(j, k - h) = shift_factor(k - h, w, subpixel(position, 1));
        }
      });
  const auto spectrum = spectrum_;
  const auto shifted = shifted_probes_;
  const int n_modes = n_modes_;
  const Real scale = plan_.unitary_scale() * plan_.unitary_scale();
  for_each_pixel(
      exec, "tessera::physics::shift_spectrum", chunk.count * n_modes, scan_.window,
      KOKKOS_LAMBDA(const int i, const int y, const int x) {
        const int j = i / n_modes;
        const int m = i - j * n_modes;
        shifted(j, m, y, x) = spectrum(m, y, x) * (ramp_y(j, y) * scale) * ramp_x(j, x);
      });
  plan_.inverse(exec, shifted_probes_.data(), chunk.count * n_modes_);
}

void ForwardModel::forward(const Device& exec, const ObjectView& object, const Chunk& chunk) {
  if (chunk.count == 0) return;
  if (scan_.has_subpixel) shift_probe_to(exec, chunk);
  const auto order = scan_.order;
  const auto corner = scan_.corner;
  const auto waves = waves_;
  const ProbeOfPosition probe = probe_of_position(scan_, probe_, shifted_probes_);
  const int n_modes = n_modes_;
  const Real scale = plan_.unitary_scale();
  for_each_pixel(
      exec, "tessera::physics::exit_waves", chunk.count * n_modes, scan_.window,
      KOKKOS_LAMBDA(const int i, const int y, const int x) {
        const int j = i / n_modes;
        const int m = i - j * n_modes;
        const int position = order(chunk.begin + j);
        const complex o = object(0, corner(position, 0) + y, corner(position, 1) + x);
        waves(j, m, y, x) = probe(j, m, y, x) * o * scale;
      });
  plan_.forward(exec, waves_.data(), chunk.count * n_modes_);
}

void ForwardModel::backward(const Device& exec, const Chunk& chunk) {
  const auto waves = waves_;
  const Real scale = plan_.unitary_scale();
  const int n_modes = n_modes_;
  plan_.inverse(exec, waves_.data(), chunk.count * n_modes_);
  for_each_pixel(
      exec, "tessera::physics::scale_waves", chunk.count * n_modes, scan_.window,
      KOKKOS_LAMBDA(const int i, const int y, const int x) {
        waves(i / n_modes, i % n_modes, y, x) *= scale;
      });
}

void ForwardModel::add_object_gradient(const Device& exec, const Chunk& chunk,
                                       const ObjectView& object_sum,
                                       const DeviceView<Real***>& illumination) const {
  const ObjectGradient kernel{
      scan_.order,  scan_.corner, waves_,   probe_of_position(scan_, probe_, shifted_probes_),
      object_sum,   illumination, n_modes_, chunk.begin,
      !fixed_order_};
  const char* label = "tessera::physics::object_gradient";
  if (!fixed_order_) {
    for_each_pixel(exec, label, chunk.count, scan_.window, kernel);
    return;
  }
  // One window after another: no two threads meet in a pixel, and the order of the sum is the
  // chunk's.
  for (int j = 0; j < chunk.count; ++j)
    for_each_pixel(
        exec, label, 1, scan_.window,
        KOKKOS_LAMBDA(int, const int y, const int x) { kernel(j, y, x); });
}

void ForwardModel::add_probe_gradient(const Device& exec, const ObjectView& object,
                                      const Chunk& chunk, const ProbeView& probe_sum,
                                      const DeviceView<Real**>& overlap) {
  if (chunk.count == 0) return;
  const auto order = scan_.order;
  const auto corner = scan_.corner;
  const auto waves = waves_;
  const int n_modes = n_modes_;
  for_each_pixel(
      exec, "tessera::physics::overlap", 1, scan_.window,
      KOKKOS_LAMBDA(int, const int y, const int x) {
        Real sum = 0;
        for (int j = 0; j < chunk.count; ++j) {
          const int position = order(chunk.begin + j);
          const complex o = object(0, corner(position, 0) + y, corner(position, 1) + x);
          sum += o.real() * o.real() + o.imag() * o.imag();
          for (int m = 0; m < n_modes; ++m) waves(j, m, y, x) = Kokkos::conj(o) * waves(j, m, y, x);
        }
        overlap(y, x) += sum;
      });
  const bool shifted = scan_.has_subpixel;
  if (shifted) plan_.forward(exec, waves_.data(), chunk.count * n_modes_);
  const auto ramp_y = ramp_y_;
  const auto ramp_x = ramp_x_;
  for_each_pixel(
      exec, "tessera::physics::probe_gradient", n_modes, scan_.window,
      KOKKOS_LAMBDA(const int m, const int y, const int x) {
        complex sum = 0;
        for (int j = 0; j < chunk.count; ++j)
          sum += shifted ? Kokkos::conj(ramp_y(j, y) * ramp_x(j, x)) * waves(j, m, y, x)
                         : waves(j, m, y, x);
        probe_sum(m, y, x) += sum;
      });
}

void ForwardModel::finish_probe_gradient(const Device& exec, const ProbeView& probe_sum) const {
  if (!scan_.has_subpixel) return;
  plan_.inverse(exec, probe_sum.data(), n_modes_);
  const Real scale = plan_.unitary_scale() * plan_.unitary_scale();
  for_each_pixel(
      exec, "tessera::physics::probe_gradient_scale", n_modes_, scan_.window,
      KOKKOS_LAMBDA(const int m, const int y, const int x) { probe_sum(m, y, x) *= scale; });
}

}  // namespace tessera::physics

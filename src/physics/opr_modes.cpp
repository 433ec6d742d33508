#include "physics/opr_modes.hpp"

#include <cmath>

#include "device/sums.hpp"
#include "illumination_kernels.hpp"

namespace tessera::physics {

using device::Device;

namespace {

constexpr int max_opr_modes = 16;

/// Moment `at`: number of positions, sums of weights, sums of their products.
struct WeightMoments {
  DeviceView<Real**> weight;
  static constexpr int width = 64;  ///< positions of a row

  struct Row {
    DeviceView<Real**> weight;
    int a;  ///< weights that are multiplied; -1: 1
    int b;
    int first;
    KOKKOS_FUNCTION Real value(const int i, const int k) const { return k < 0 ? 1 : weight(i, k); }
    KOKKOS_FUNCTION void operator()(const int x, Real* sum) const {
      const int i = first + x;
      if (i < static_cast<int>(weight.extent(0))) sum[0] += value(i, a) * value(i, b);
    }
  };
  KOKKOS_FUNCTION Row row(const int at, const int y) const {
    const auto n_opr = static_cast<int>(weight.extent(1));
    const int a = at == 0 ? -1 : at <= n_opr ? at - 1 : (at - 1 - n_opr) / n_opr;
    const int b = at <= n_opr ? -1 : (at - 1 - n_opr) % n_opr;
    return {weight, a, b, y * width};
  }
};

/// Of this rank.
void find_moments(const Device& exec, const DeviceView<Real**>& weight,
                  const DeviceView<double*>& moments) {
  const auto n = static_cast<int>(weight.extent(0));
  const auto n_moments = static_cast<int>(moments.size());
  constexpr int width = WeightMoments::width;
  device::sum_each_image(exec, "tessera::physics::opr_moments", n_moments,
                         {(n + width - 1) / width, width}, WeightMoments{weight},
                         DeviceView<double* [1]>(moments.data(), n_moments));
}

/// @param mixing rows: means, weights from weights
void mix_weights(const Device& exec, const DeviceView<Real**>& mixing,
                 const DeviceView<Real**>& weight) {
  const auto n_opr = static_cast<int>(weight.extent(1));
  Kokkos::parallel_for(
      device::kernel_name("tessera::physics::mix_opr_weights"),
      Kokkos::RangePolicy<Device>(exec, 0, static_cast<int>(weight.extent(0))),
      KOKKOS_LAMBDA(const int i) {
        Real before[max_opr_modes];
        for (int k = 0; k < n_opr; ++k) before[k] = weight(i, k) - mixing(0, k);
        for (int k = 0; k < n_opr; ++k) {
          Real sum = 0;
          for (int m = 0; m < n_opr; ++m) sum += mixing(1 + k, m) * before[m];
          weight(i, k) = sum;
        }
      });
}

}  // namespace

OprModes::OprModes(const ModelOptions& options, Shape2 window)
    : n_modes_(options.n_modes),
      n_opr_(options.n_opr_modes),
      window_(window),
      moments_("tessera::physics::opr_moments", 1 + n_opr_ + n_opr_ * n_opr_),
      host_moments_("tessera::physics::host_opr_moments", 1 + n_opr_ + n_opr_ * n_opr_),
      products_(n_opr_, window),
      share_("tessera::physics::opr_share", n_modes_ + n_opr_, n_modes_ + n_opr_),
      host_share_("tessera::physics::host_opr_share", n_modes_ + n_opr_, n_modes_ + n_opr_),
      weight_mixing_("tessera::physics::opr_weight_mixing", 1 + n_opr_, n_opr_),
      host_weight_mixing_("tessera::physics::host_opr_weight_mixing", 1 + n_opr_, n_opr_),
      gram_(n_opr_),
      mixing_(n_modes_ + n_opr_),
      rms_(static_cast<std::size_t>(n_opr_)) {
  for (int mode = 0; mode < n_modes_; ++mode) host_share_(mode, mode) = 1;
}

std::int64_t OprModes::bytes(const Sizes& sizes) {
  const int n_opr = sizes.model.n_opr_modes;
  const int n_planes = sizes.model.n_modes + n_opr;
  return bytes_of<double>(1 + n_opr + n_opr * n_opr) + bytes_of<Real>((1 + n_opr) * n_opr) +
         bytes_of<complex>(n_planes * n_planes) + ModeProducts::bytes(n_opr, sizes.window) +
         ImageMixing::bytes(n_planes);
}

void OprModes::settle(const Device& exec, const ProbeView& probe, const DeviceView<Real**>& weight,
                      const AllReduce& all_reduce) {
  find_moments(exec, weight, moments_);
  all_reduce(moments_);
  products_.find(exec, probe.data() + n_modes_ * window_.size());
  Kokkos::deep_copy(exec, host_moments_, moments_);
  exec.fence();
  const double n = std::max(host_moments_(0), 1.0);
  for (int k = 0; k < n_opr_; ++k) {
    const double mean = host_moments_(1 + k) / n;
    const double square = host_moments_(1 + n_opr_ + k * n_opr_ + k) / n;
    const double rms = std::sqrt(std::max(0.0, square - mean * mean));
    rms_[k] = rms > 0 ? rms : 1;  // weights that are all alike say nothing of the scale
    host_weight_mixing_(0, k) = static_cast<Real>(mean);
    host_share_(0, n_modes_ + k) = static_cast<Real>(mean);
  }
  for (int a = 0; a < n_opr_; ++a)
    for (int b = 0; b <= a; ++b) gram_.product(a, b) = products_(a, b).real() * rms_[a] * rms_[b];
  gram_.solve();
  for (int k = 0; k < n_opr_; ++k)
    for (int m = 0; m < n_opr_; ++m) {
      const double share = gram_.share(k, m).real();
      host_share_(n_modes_ + k, n_modes_ + m) = static_cast<Real>(share * rms_[m]);
      host_weight_mixing_(1 + k, m) = static_cast<Real>(share / rms_[m]);
    }
  Kokkos::deep_copy(exec, share_, host_share_);
  Kokkos::deep_copy(exec, weight_mixing_, host_weight_mixing_);
  mixing_(exec, share_, probe);
  mix_weights(exec, weight_mixing_, weight);
}

void shift_images(const Device& exec, const fft::Plan& plan, const ProbeView& images, Vec2 shift) {
  const auto n = static_cast<int>(images.extent(0));
  const Shape2 shape = plan.shape();
  const Real scale = plan.unitary_scale() * plan.unitary_scale();
  const auto shift_y = static_cast<Real>(shift.y);
  const auto shift_x = static_cast<Real>(shift.x);
  plan.forward(exec, images.data(), n);
  device::for_each_pixel(
      exec, "tessera::physics::shift_images", n, shape,
      KOKKOS_LAMBDA(const int i, const int y, const int x) {
        images(i, y, x) *=
            shift_factor(y, shape.h, shift_y) * shift_factor(x, shape.w, shift_x) * scale;
      });
  plan.inverse(exec, images.data(), n);
}

}  // namespace tessera::physics

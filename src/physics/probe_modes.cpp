#include "physics/probe_modes.hpp"

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

namespace tessera::physics {

using device::complex;
using device::DeviceView;

ModeOrthogonaliser::ModeOrthogonaliser(int n_modes, Shape2 window)
    : n_modes_(n_modes),
      window_(window),
      products_("tessera::physics::mode_products", n_modes * n_modes),
      host_products_("tessera::physics::host_mode_products", n_modes * n_modes),
      mixing_("tessera::physics::mixing", n_modes, n_modes),
      host_mixing_("tessera::physics::host_mixing", n_modes, n_modes),
      gram_(n_modes) {
  if (n_modes > max_modes)
    throw InputError(text("probe.n_modes = ", n_modes, " is more than ", max_modes));
}

void ModeOrthogonaliser::orthogonalise(const device::Device& exec, const ProbeView& probe) {
  for (int a = 0; a < n_modes_; ++a)
    for (int b = 0; b <= a; ++b)
      inner_product_(exec, probe.data() + a * window_.size(), probe.data() + b * window_.size(), 1,
                     window_, DeviceView<double*>(products_.data() + 2 * (a * n_modes_ + b), 2));
  Kokkos::deep_copy(exec, host_products_, products_);
  exec.fence();
  for (int a = 0; a < n_modes_; ++a)
    for (int b = 0; b <= a; ++b) {
      const int i = a * n_modes_ + b;
      gram_.product(a, b) = {host_products_(i, 0), host_products_(i, 1)};
    }
  gram_.solve();
  for (int k = 0; k < n_modes_; ++k)
    for (int m = 0; m < n_modes_; ++m) {
      const std::complex<double> share = gram_.share(k, m);
      host_mixing_(k, m) =
          complex(static_cast<Real>(share.real()), static_cast<Real>(share.imag()));
    }
  Kokkos::deep_copy(exec, mixing_, host_mixing_);
  mix(exec, probe);
}

void ModeOrthogonaliser::mix(const device::Device& exec, const ProbeView& modes) const {
  const auto mixing = mixing_;
  const int n_modes = n_modes_;
  device::for_each_pixel(
      exec, "tessera::physics::mix_modes", 1, window_,
      KOKKOS_LAMBDA(int, const int y, const int x) {
        complex before[max_modes];
        for (int m = 0; m < n_modes; ++m) before[m] = modes(m, y, x);
        for (int k = 0; k < n_modes; ++k) {
          complex sum = 0;
          for (int m = 0; m < n_modes; ++m) sum += mixing(k, m) * before[m];
          modes(k, y, x) = sum;
        }
      });
}

std::vector<double> mode_powers(const device::Device& exec, const ProbeView& probe) {
  const InnerProduct inner_product;
  const Shape2 window = device::image_shape(probe);
  std::vector<double> powers;
  for (std::size_t m = 0; m < probe.extent(0); ++m) {
    const complex* mode = probe.data() + static_cast<std::int64_t>(m) * window.size();
    powers.push_back(inner_product(exec, mode, mode, 1, window).real());
  }
  return powers;
}

}  // namespace tessera::physics

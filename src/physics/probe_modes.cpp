#include "physics/probe_modes.hpp"

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "inner_product.hpp"

namespace tessera::physics {

using device::complex;

ModeOrthogonaliser::ModeOrthogonaliser(int n_modes, Shape2 window)
    : n_modes_(n_modes),
      products_(n_modes, window),
      share_("tessera::physics::mode_share", n_modes, n_modes),
      host_share_("tessera::physics::host_mode_share", n_modes, n_modes),
      gram_(n_modes),
      mixing_(n_modes) {
  if (n_modes > max_modes)
    throw InputError(text("probe.n_modes = ", n_modes, " is more than ", max_modes));
}

void ModeOrthogonaliser::orthogonalise(const device::Device& exec, const ProbeView& probe) {
  products_.find(exec, probe.data());
  exec.fence();
  for (int a = 0; a < n_modes_; ++a)
    for (int b = 0; b <= a; ++b) gram_.product(a, b) = products_(a, b);
  gram_.solve();
  for (int k = 0; k < n_modes_; ++k)
    for (int m = 0; m < n_modes_; ++m) {
      const std::complex<double> share = gram_.share(k, m);
      host_share_(k, m) = complex(static_cast<Real>(share.real()), static_cast<Real>(share.imag()));
    }
  Kokkos::deep_copy(exec, share_, host_share_);
  mix(exec, probe);
}

void ModeOrthogonaliser::mix(const device::Device& exec, const ProbeView& modes) const {
  mixing_(exec, share_, modes);
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

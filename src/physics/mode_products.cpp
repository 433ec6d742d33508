#include "physics/mode_products.hpp"

#include "device/sums.hpp"
#include "physics/inner_product.hpp"

namespace tessera::physics {
namespace {

using device::complex;

constexpr int band_rows = 32;  ///< that one team adds up

int n_bands(Shape2 window) {
  return (window.h + band_rows - 1) / band_rows;
}
KOKKOS_FUNCTION constexpr int pair_number(int a, int b) {
  return a * (a + 1) / 2 + b;
}

struct MultiplyModes {
  const complex* modes;
  Shape2 window;
  int n_bands;

  struct Row {
    const complex* a;
    const complex* b;
    int width;
    KOKKOS_FUNCTION void operator()(const int x, Real* sum) const {
      if (x >= width) return;
      sum[0] += real_product(a[x], b[x]);
      sum[1] += a[x].real() * b[x].imag() - a[x].imag() * b[x].real();
    }
  };
  KOKKOS_FUNCTION Row row(const int i, const int y) const {
    const int pair = i / n_bands;
    int a = 0;
    while (pair_number(a + 1, 0) <= pair) ++a;
    const int at = i % n_bands * band_rows + y;
    const complex* line = modes + static_cast<std::int64_t>(at) * window.w;
    return {line + a * window.size(), line + (pair - pair_number(a, 0)) * window.size(),
            at < window.h ? window.w : 0};
  }
};

}  // namespace

ModeProducts::ModeProducts(int n_modes, Shape2 window)
    : window_(window),
      parts_("tessera::physics::mode_products", pair_number(n_modes, 0) * n_bands(window)),
      host_parts_("tessera::physics::host_mode_products", parts_.extent(0)) {}

std::int64_t ModeProducts::bytes(int n_modes, Shape2 window) {
  return static_cast<std::int64_t>(2 * sizeof(double)) * pair_number(n_modes, 0) * n_bands(window);
}

void ModeProducts::find(const device::Device& exec, const complex* modes) {
  device::sum_each_image(exec, "tessera::physics::mode_products",
                         static_cast<int>(parts_.extent(0)), {band_rows, window_.w},
                         MultiplyModes{modes, window_, n_bands(window_)}, parts_);
  Kokkos::deep_copy(exec, host_parts_, parts_);
}

std::complex<double> ModeProducts::product(int a, int b) const {
  std::complex<double> sum = 0;
  const int bands = n_bands(window_);
  for (int i = 0; i < bands; ++i) {
    const int at = pair_number(a, b) * bands + i;
    sum += std::complex<double>(host_parts_(at, 0), host_parts_(at, 1));
  }
  return sum;
}

}  // namespace tessera::physics

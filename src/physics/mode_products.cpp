#include "physics/mode_products.hpp"

#include "device/sums.hpp"
#include "inner_product.hpp"

namespace tessera::physics {
namespace {

using device::complex;

/// Image i: the terms of a part of the rows of a pair (a, b), b <= a.
struct PairTerms {
  const complex* modes;
  std::int64_t area;
  std::int64_t width;
  int n_parts;
  int rows;  ///< of a part

  KOKKOS_FUNCTION ProductRow row(const int i, const int y) const {
    int a = 0;
    int b = i / n_parts;
    while (b > a) b -= ++a;
    const std::int64_t at = (i % n_parts * rows + y) * width;
    return {modes + a * area + at, modes + b * area + at};
  }
};

}  // namespace

int ModeProducts::parts_of(Shape2 window) {
  int parts = device::device_is_host ? 1 : 16;
  while (window.h % parts != 0) parts /= 2;
  return parts;
}

ModeProducts::ModeProducts(int n_modes, Shape2 window)
    : window_(window),
      n_parts_(parts_of(window)),
      sums_("tessera::physics::mode_products", n_pairs(n_modes) * n_parts_),
      host_("tessera::physics::host_mode_products", n_pairs(n_modes) * n_parts_) {}

void ModeProducts::find(const device::Device& exec, const complex* modes) {
  const int rows = window_.h / n_parts_;
  device::sum_each_image(exec, "tessera::physics::mode_products", static_cast<int>(sums_.extent(0)),
                         {rows, window_.w},
                         PairTerms{modes, window_.size(), window_.w, n_parts_, rows}, sums_);
  Kokkos::deep_copy(exec, host_, sums_);
}

std::complex<double> ModeProducts::operator()(int a, int b) const {
  const int first = (n_pairs(a) + b) * n_parts_;
  std::complex<double> sum = 0;
  for (int i = first; i < first + n_parts_; ++i) sum += std::complex(host_(i, 0), host_(i, 1));
  return sum;
}

}  // namespace tessera::physics

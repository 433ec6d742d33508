#include "physics/inner_product.hpp"

#include "device/sums.hpp"

namespace tessera::physics {
namespace {

using device::complex;
using device::DeviceView;

struct Multiply {
  const complex* a;
  const complex* b;
  std::int64_t pitch;
  std::int64_t stride;

  KOKKOS_FUNCTION ProductRow row(const int i, const int y) const {
    const std::int64_t at = i * stride + y * pitch;
    return {a + at, b + at};
  }
};

}  // namespace

InnerProduct::InnerProduct()
    : scratch_("tessera::physics::inner_product_scratch", 2),
      sum_("tessera::physics::inner_product_sum", 2),
      host_("tessera::physics::inner_product_host", 2) {}

Kokkos::complex<double> InnerProduct::operator()(const device::Device& exec, const complex* a,
                                                 const complex* b, int n, Shape2 shape) const {
  (*this)(exec, a, b, n, shape, sum_);
  Kokkos::deep_copy(exec, host_, sum_);
  exec.fence();
  return {host_(0), host_(1)};
}

void InnerProduct::operator()(const device::Device& exec, const complex* a, const complex* b, int n,
                              Shape2 shape, const device::DeviceView<double*>& product) const {
  device::set_zero(exec, product);
  add(exec, a, b, {n, shape, shape.w, shape.size()}, product);
}

void InnerProduct::add(const device::Device& exec, const complex* a, const complex* b,
                       const ImageRows& rows, const DeviceView<double*>& product) const {
  device::add_pixel_sums<2>(exec, "tessera::physics::inner_product", rows.n, rows.shape,
                            Multiply{a, b, rows.pitch, rows.stride}, scratch_, product);
}

}  // namespace tessera::physics

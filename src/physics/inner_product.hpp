#pragma once
/// Squares and inner products of waves.

#include "tessera/device/device.hpp"

namespace tessera::physics {

KOKKOS_FUNCTION inline Real squared_magnitude(const device::complex& z) {
  return z.real() * z.real() + z.imag() * z.imag();
}

/// Re <a, b>
KOKKOS_FUNCTION inline Real real_product(const device::complex& a, const device::complex& b) {
  return a.real() * b.real() + a.imag() * b.imag();
}

/// A row's terms of <a, b>: real and imaginary part.
struct ProductRow {
  const device::complex* a;
  const device::complex* b;
  KOKKOS_FUNCTION void operator()(const int x, Real* sum) const {
    sum[0] += real_product(a[x], b[x]);
    sum[1] += a[x].real() * b[x].imag() - a[x].imag() * b[x].real();
  }
};

/// Where images lie: rows `pitch` values apart, images `stride` values apart.
struct ImageRows {
  int n;
  Shape2 shape;
  std::int64_t pitch;
  std::int64_t stride;
};

/// Scratch and result of inner products, allocated once.
class InnerProduct {
 public:
  InnerProduct();
  /// sum conj(a) b over `n` images of `shape`, summed in double. Waits for the device.
  Kokkos::complex<double> operator()(const device::Device& exec, const device::complex* a,
                                     const device::complex* b, int n, Shape2 shape) const;
  /// The same to product(0) and product(1), real and imaginary part, on the device. Does not wait.
  void operator()(const device::Device& exec, const device::complex* a, const device::complex* b,
                  int n, Shape2 shape, const device::DeviceView<double*>& product) const;
  /// product(0), product(1) += sum conj(a) b over a part of larger images; both lie alike. On the
  /// device; does not wait.
  void add(const device::Device& exec, const device::complex* a, const device::complex* b,
           const ImageRows& rows, const device::DeviceView<double*>& product) const;

 private:
  device::DeviceView<double*> scratch_;
  device::DeviceView<double*> sum_;
  device::HostView<double*> host_;
};

}  // namespace tessera::physics

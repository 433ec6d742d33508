#include "lsqml_kernels.hpp"

#include "device/sums.hpp"

namespace tessera::solvers {

using device::complex;
using device::Device;
using device::DeviceView;
using physics::GradientSums;
using physics::ObjectView;
using physics::ProbeView;

namespace {

/// The lengths of one position. A direction that changes nothing has length 0.
struct Lengths {
  Products products;
  double damping;

  struct Position {
    Real a;
    Real b;
    KOKKOS_FUNCTION void operator()(int, Real* sum) const {
      sum[0] += a;
      sum[1] += b;
      sum[2] += 1;
    }
  };
  KOKKOS_FUNCTION Position row(const int j, int) const {
    using N = NormalEquations;
    const double uu = products(j, N::uu) * (1 + damping);
    const double vv = products(j, N::vv) * (1 + damping);
    const double uv = products(j, N::uv);
    const double uchi = products(j, N::uchi);
    const double vchi = products(j, N::vchi);
    if (!(uu > 0)) return {0, vv > 0 ? static_cast<Real>(vchi / vv) : 0};
    if (!(vv > 0)) return {static_cast<Real>(uchi / uu), 0};
    const double determinant = uu * vv - uv * uv;
    return {static_cast<Real>((vv * uchi - uv * vchi) / determinant),
            static_cast<Real>((uu * vchi - uv * uchi) / determinant)};
  }
};

}  // namespace

void weigh_object_sum(const Device& exec, const GradientSums& sums,
                      const DeviceView<Real>& max_power, double alpha, const BlockList& touched,
                      const OwnedTile& tile) {
  const auto sum = sums.object;
  const auto dose = sums.dose;
  const auto regularisation = static_cast<Real>(alpha);
  for_each_touched_pixel(
      exec, "tessera::solvers::weigh_object_sum", static_cast<int>(sum.extent(0)), touched, tile,
      KOKKOS_LAMBDA(const int plane, const int y, const int x) {
        const Real weight = physics::update_weight(dose(plane, y, x), max_power(), regularisation);
        sum(plane, y, x) *= tile.owns(y, x) && weight > 0 ? 1 / weight : Real(0);
        dose(plane, y, x) = 0;
      });
}

void weigh_probe_sum(const Device& exec, const GradientSums& sums,
                     const DeviceView<Real>& max_overlap, double alpha) {
  const auto sum = sums.probe;
  const auto overlap = sums.overlap;
  const auto regularisation = static_cast<Real>(alpha);
  device::for_each_pixel(
      exec, "tessera::solvers::weigh_probe_sum", static_cast<int>(sum.extent(0)),
      device::image_shape(sum), KOKKOS_LAMBDA(const int m, const int y, const int x) {
        const Real weight = physics::update_weight(overlap(y, x), max_overlap(), regularisation);
        sum(m, y, x) *= weight > 0 ? 1 / weight : Real(0);
      });
}

void add_direction(const Device& exec, const ObjectView& object, const ObjectView& direction,
                   const ObjectView& moved, const BlockList& touched, const OwnedTile& tile) {
  for_each_touched_pixel(
      exec, "tessera::solvers::add_direction", static_cast<int>(object.extent(0)), touched, tile,
      KOKKOS_LAMBDA(const int plane, const int y, const int x) {
        moved(plane, y, x) = object(plane, y, x) + direction(plane, y, x);
      });
}

void sum_lengths(const Device& exec, const Products& products, int n, double damping,
                 const DeviceView<double*>& scratch, const DeviceView<double*>& sums) {
  device::set_zero(exec, sums);
  if (n == 0) return;
  device::add_pixel_sums<n_length_sums>(exec, "tessera::solvers::lengths", n, {1, 1},
                                        Lengths{products, damping}, scratch, sums);
}

void set_lengths(const Device& exec, const DeviceView<double*>& sums,
                 const DeviceView<Real[2]>& steps, const DeviceView<Real[2]>& lengths) {
  Kokkos::parallel_for(
      device::kernel_name("tessera::solvers::set_lengths"), Kokkos::RangePolicy<Device>(exec, 0, 2),
      KOKKOS_LAMBDA(const int i) { lengths(i) = steps(i) * static_cast<Real>(sums(i) / sums(2)); });
}

void move_object(const Device& exec, const ObjectView& object, const GradientSums& sums,
                 const DeviceView<Real[2]>& lengths, const BlockList& touched,
                 const OwnedTile& tile) {
  const auto direction = sums.object;
  for_each_touched_pixel(
      exec, "tessera::solvers::move_object", static_cast<int>(object.extent(0)), touched, tile,
      KOKKOS_LAMBDA(const int plane, const int y, const int x) {
        object(plane, y, x) += direction(plane, y, x) * lengths(0);
        direction(plane, y, x) = complex(0);
      });
}

void move_probe(const Device& exec, const ProbeView& probe, const ProbeView& direction,
                const DeviceView<Real[2]>& lengths) {
  device::for_each_pixel(
      exec, "tessera::solvers::move_probe", static_cast<int>(probe.extent(0)),
      device::image_shape(probe), KOKKOS_LAMBDA(const int m, const int y, const int x) {
        probe(m, y, x) += direction(m, y, x) * lengths(1);
      });
}

}  // namespace tessera::solvers

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
  Sample sample;
  double damping;

  struct Position {
    Real a;
    Real b;
    Real counts = 1;
    KOKKOS_FUNCTION void operator()(int, Real* sum) const {
      sum[0] += a;
      sum[1] += b;
      sum[2] += counts;
    }
  };
  KOKKOS_FUNCTION Position row(const int j, int) const {
    if (!sample.has(j)) return {0, 0, 0};
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

/// The object's sum becomes its direction, of owned pixels; the dose becomes zero.
struct WeighObjectSum {
  ObjectView sum;
  DeviceView<Real***> dose;
  DeviceView<Real> max_power;
  OwnedTile tile;
  Real alpha;

  struct Pixel {
    complex sum;
    Real dose;
  };
  KOKKOS_FUNCTION Pixel read(int plane, int y, int x) const {
    return {sum(plane, y, x), dose(plane, y, x)};
  }
  KOKKOS_FUNCTION void write(int plane, int y, int x, const Pixel& was) const {
    const Real weight = physics::update_weight(was.dose, max_power(), alpha);
    sum(plane, y, x) = was.sum * (tile.owns(y, x) && weight > 0 ? 1 / weight : Real(0));
    dose(plane, y, x) = 0;
  }
};

/// The direction becomes zero.
struct MoveAlong {
  ObjectView object;
  ObjectView direction;
  DeviceView<Real[2]> lengths;

  struct Pixel {
    complex object;
    complex direction;
  };
  KOKKOS_FUNCTION Pixel read(int plane, int y, int x) const {
    return {object(plane, y, x), direction(plane, y, x)};
  }
  KOKKOS_FUNCTION void write(int plane, int y, int x, const Pixel& was) const {
    object(plane, y, x) = was.object + was.direction * lengths(0);
    direction(plane, y, x) = complex(0);
  }
};

}  // namespace

void weigh_object_sum(const Device& exec, const GradientSums& sums,
                      const DeviceView<Real>& max_power, double alpha, const BlockList& touched,
                      const OwnedTile& tile) {
  update_touched_pixels(
      exec, "tessera::solvers::weigh_object_sum", static_cast<int>(sums.object.extent(0)), touched,
      tile, WeighObjectSum{sums.object, sums.dose, max_power, tile, static_cast<Real>(alpha)});
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

void sum_lengths(const Device& exec, const Products& products, int n, const Sample& sample,
                 double damping, const DeviceView<double*>& scratch,
                 const DeviceView<double*>& sums) {
  device::set_zero(exec, sums);
  if (n == 0) return;
  device::add_pixel_sums<n_length_sums>(exec, "tessera::solvers::lengths", n, {1, 1},
                                        Lengths{products, sample, damping}, scratch, sums);
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
  update_touched_pixels(exec, "tessera::solvers::move_object", static_cast<int>(object.extent(0)),
                        touched, tile, MoveAlong{object, sums.object, lengths});
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

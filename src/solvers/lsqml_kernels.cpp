#include "lsqml_kernels.hpp"

#include "tessera/device/sums.hpp"

namespace tessera::solvers {

using device::complex;
using device::Device;
using device::DeviceView;
using physics::Chunk;
using physics::GradientSums;
using physics::ObjectView;
using physics::ProbeView;
using physics::real_product;
using physics::squared_magnitude;
using physics::WavesView;

namespace {

std::int64_t image_size(const WavesView& waves) {
  return static_cast<std::int64_t>(waves.extent(2) * waves.extent(3));
}
int n_images(const WavesView& waves) {
  return static_cast<int>(waves.extent(1));
}
/// The waves of the chunk's first position in those of the batch.
complex* waves_of_chunk(const WavesView& of_batch, const Chunk& chunk, int first) {
  return of_batch.data() + (chunk.begin - first) * n_images(of_batch) * image_size(of_batch);
}

template <bool adds>
struct CopyWaves {
  const complex* waves;
  complex* kept;
  Real scale;
  std::int64_t h;
  std::int64_t w;

  struct Row {
    const complex* wave;
    complex* kept;
    Real scale;
    KOKKOS_FUNCTION void operator()(const int x) const {
      if constexpr (adds) {
        kept[x] += wave[x] * scale;
      } else {
        kept[x] = wave[x] * scale;
      }
    }
  };
  KOKKOS_FUNCTION Row row(const int i, const int y) const {
    const std::int64_t at = (i * h + y) * w;
    return {waves + at, kept + at, scale};
  }
};

template <bool adds>
void copy_waves(const Device& exec, const WavesView& waves, const Chunk& chunk, int first,
                Real scale, const WavesView& kept) {
  const Shape2 shape = device::image_shape(waves);
  device::for_each_row_pixel(
      exec, "tessera::solvers::keep_waves", chunk.count * n_images(waves), shape,
      CopyWaves<adds>{waves.data(), waves_of_chunk(kept, chunk, first), scale, shape.h, shape.w});
}

struct MultiplyWaves {
  const complex* chi;
  const complex* u;
  const complex* v;
  int n_images;
  std::int64_t image_size;
  std::int64_t w;

  struct Row {
    const complex* chi;
    const complex* u;
    const complex* v;
    int n_images;
    std::int64_t image_size;
    KOKKOS_FUNCTION void operator()(const int x, Real* sum) const {
      for (int m = 0; m < n_images; ++m) {
        const std::int64_t at = m * image_size + x;
        sum[NormalEquations::uu] += squared_magnitude(u[at]);
        sum[NormalEquations::uv] += real_product(u[at], v[at]);
        sum[NormalEquations::vv] += squared_magnitude(v[at]);
        sum[NormalEquations::uchi] += real_product(u[at], chi[at]);
        sum[NormalEquations::vchi] += real_product(v[at], chi[at]);
      }
    }
  };
  KOKKOS_FUNCTION Row row(const int j, const int y) const {
    const std::int64_t at = j * n_images * image_size + y * w;
    return {chi + at, u + at, v + at, n_images, image_size};
  }
};

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

void keep_waves(const Device& exec, const WavesView& waves, const Chunk& chunk, int first,
                Real scale, const WavesView& kept) {
  copy_waves<false>(exec, waves, chunk, first, scale, kept);
}

void add_waves(const Device& exec, const WavesView& waves, const Chunk& chunk, int first,
               const WavesView& kept) {
  copy_waves<true>(exec, waves, chunk, first, 1, kept);
}

void weigh_object_sum(const Device& exec, const GradientSums& sums,
                      const DeviceView<Real>& greatest_power, double alpha,
                      const TouchedBlocks& touched, const OwnedTile& tile) {
  const auto sum = sums.object;
  const auto illumination = sums.illumination;
  const auto regularisation = static_cast<Real>(alpha);
  for_each_touched_pixel(
      exec, "tessera::solvers::weigh_object_sum", static_cast<int>(sum.extent(0)), touched, tile,
      KOKKOS_LAMBDA(const int plane, const int y, const int x) {
        const Real weight =
            update_weight(illumination(plane, y, x), greatest_power(), regularisation);
        sum(plane, y, x) *= tile.owns(y, x) && weight > 0 ? 1 / weight : Real(0);
        illumination(plane, y, x) = 0;
      });
}

void weigh_probe_sum(const Device& exec, const GradientSums& sums,
                     const DeviceView<Real>& greatest_overlap, double alpha) {
  const auto sum = sums.probe;
  const auto overlap = sums.overlap;
  const auto regularisation = static_cast<Real>(alpha);
  device::for_each_pixel(
      exec, "tessera::solvers::weigh_probe_sum", static_cast<int>(sum.extent(0)),
      device::image_shape(sum), KOKKOS_LAMBDA(const int m, const int y, const int x) {
        const Real weight = update_weight(overlap(y, x), greatest_overlap(), regularisation);
        sum(m, y, x) *= weight > 0 ? 1 / weight : Real(0);
      });
}

void add_direction(const Device& exec, const ObjectView& object, const ObjectView& direction,
                   const ObjectView& moved, const TouchedBlocks& touched, const OwnedTile& tile) {
  for_each_touched_pixel(
      exec, "tessera::solvers::add_direction", static_cast<int>(object.extent(0)), touched, tile,
      KOKKOS_LAMBDA(const int plane, const int y, const int x) {
        moved(plane, y, x) = object(plane, y, x) + direction(plane, y, x);
      });
}

void multiply_waves(const Device& exec, const WavesView& chi, const WavesView& u,
                    const WavesView& v, const Chunk& chunk, int first, const Products& products) {
  const Shape2 shape = device::image_shape(v);
  const MultiplyWaves multiply{waves_of_chunk(chi, chunk, first),
                               waves_of_chunk(u, chunk, first),
                               v.data(),
                               n_images(v),
                               image_size(v),
                               shape.w};
  const Products of_chunk(products.data() + (chunk.begin - first) * NormalEquations::n,
                          chunk.count);
  device::sum_each_image<NormalEquations::n>(exec, "tessera::solvers::normal_equations",
                                             chunk.count, shape, multiply, of_chunk);
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
                 const DeviceView<Real[2]>& lengths, const TouchedBlocks& touched,
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

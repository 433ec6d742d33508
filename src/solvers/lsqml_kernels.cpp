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
using physics::WavesView;

namespace {

std::int64_t image_size(const WavesView& waves) {
  return static_cast<std::int64_t>(waves.extent(2) * waves.extent(3));
}
int n_images(const WavesView& waves) {
  return static_cast<int>(waves.extent(1));
}
/// Rows of all images, real and imaginary parts one after another.
Shape2 rows_of_reals(const WavesView& waves, int n_images) {
  return {n_images * static_cast<int>(waves.extent(2)), 2 * static_cast<int>(waves.extent(3))};
}

template <bool adds>
struct CopyWaves {
  const Real* waves;
  Real* kept;
  Real scale;
  std::int64_t width;

  struct Row {
    const Real* wave;
    Real* kept;
    Real scale;
    KOKKOS_FUNCTION void operator()(const int x) const {
      if constexpr (adds) {
        kept[x] += wave[x] * scale;
      } else {
        kept[x] = wave[x] * scale;
      }
    }
  };
  KOKKOS_FUNCTION Row row(int, const int y) const {
    return {waves + y * width, kept + y * width, scale};
  }
};

template <bool adds>
void copy_waves(const Device& exec, const WavesView& waves, const Chunk& chunk, int first,
                Real scale, const WavesView& kept) {
  const Shape2 rows = rows_of_reals(waves, chunk.count * n_images(waves));
  device::for_each_row_pixel(
      exec, "tessera::solvers::keep_waves", 1, rows,
      CopyWaves<adds>{device::reals(waves.data()),
                      device::reals(waves_of_chunk(kept, chunk, first)), scale, rows.w});
}

struct MultiplyWaves {
  const Real* chi;
  const Real* u;
  const Real* v;
  Shape2 rows;  ///< of one position

  struct Row {
    const Real* chi;
    const Real* u;
    const Real* v;
    KOKKOS_FUNCTION void operator()(const int x, Real* sum) const {
      sum[NormalEquations::uu] += u[x] * u[x];
      sum[NormalEquations::uv] += u[x] * v[x];
      sum[NormalEquations::vv] += v[x] * v[x];
      sum[NormalEquations::uchi] += u[x] * chi[x];
      sum[NormalEquations::vchi] += v[x] * chi[x];
    }
  };
  KOKKOS_FUNCTION Row row(const int j, const int y) const {
    const std::int64_t at = (static_cast<std::int64_t>(j) * rows.h + y) * rows.w;
    return {chi + at, u + at, v + at};
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

complex* waves_of_chunk(const WavesView& of_batch, const Chunk& chunk, int first) {
  return of_batch.data() + (chunk.begin - first) * n_images(of_batch) * image_size(of_batch);
}

Products products_of_chunk(const Products& of_batch, const Chunk& chunk, int first) {
  return Products(of_batch.data() + (chunk.begin - first) * NormalEquations::n, chunk.count);
}

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
  const Shape2 rows = rows_of_reals(v, n_images(v));
  device::sum_each_image<NormalEquations::n>(
      exec, "tessera::solvers::normal_equations", chunk.count, rows,
      MultiplyWaves{device::reals(waves_of_chunk(chi, chunk, first)),
                    device::reals(waves_of_chunk(u, chunk, first)), device::reals(v.data()), rows},
      products_of_chunk(products, chunk, first));
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

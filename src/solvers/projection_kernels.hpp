#pragma once
/// What the maps of ProjectionSolver do to every pixel of every exit wave. Plain functors.

#include "tessera/physics/forward_model.hpp"
#include "tessera/physics/inner_product.hpp"

namespace tessera::solvers {

using device::complex;
using device::DeviceView;

/// Difference map, before the modulus constraint: the wave P_O psi becomes scale R_O psi, and psi
/// becomes P_O psi.
struct ReflectOverlap {
  Real scale;
  KOKKOS_FUNCTION void operator()(complex& wave, complex& psi, complex&, Real) const {
    const complex projected = wave;
    wave = (Real(2) * projected - psi) * scale;
    psi = projected;
  }
};

/// After it, the wave being the residual (P_M - 1) R_O psi / scale: psi + P_M R_O psi - P_O psi.
struct AddResidual {
  Real scale;
  KOKKOS_FUNCTION void operator()(complex& wave, complex& psi, complex&, Real share) const {
    psi += wave * (scale * share);
    wave = psi;
  }
};

/// RAAR, before the modulus constraint: with the wave P_O R_M psi, the new psi is beta P_O R_M psi
/// + kept, which is the map of projection_solver.hpp multiplied out; the wave becomes scale psi.
struct RelaxOverlap {
  Real scale;
  Real beta;
  KOKKOS_FUNCTION void operator()(complex& wave, complex&, complex& kept, Real) const {
    kept += wave * beta;
    wave = kept * scale;
  }
};

/// After it, the wave being the residual (P_M - 1) psi / scale: it becomes R_M psi.
struct ReflectModulus {
  Real scale;
  Real beta;
  KOKKOS_FUNCTION void operator()(complex& wave, complex& reflected, complex& kept,
                                  Real share) const {
    wave = kept + wave * (2 * scale * share);
    reflected = wave;
    kept = wave * (Real(0.5) - beta) + kept * Real(0.5);
  }
};

/// RAAR starts from the wave psi = P_O psi: what RelaxOverlap has to find to leave it.
struct StartRaar {
  Real beta;
  KOKKOS_FUNCTION void operator()(complex& wave, complex&, complex& kept, Real) const {
    kept = wave * (1 - beta);
  }
};

/// f(wave, overlapping, kept, residual share) for every pixel of a chunk's waves and of what its
/// positions store.
template <class F>
struct WithStored {
  physics::WavesView waves;
  physics::WavesView overlapping;
  physics::WavesView kept;
  DeviceView<Real*> residual_share;
  DeviceView<int*> order;
  int chunk_begin;
  int n_images;
  F f;

  struct Row {
    complex* wave;
    complex* overlapping;
    complex* kept;
    Real share;
    F f;
    KOKKOS_FUNCTION void operator()(const int x) const {
      f(wave[x], overlapping[x], kept[x], share);
    }
  };
  KOKKOS_FUNCTION Row row(const int i, const int y) const {
    const int j = i / n_images;
    const int image = i - j * n_images;
    const int position = order(chunk_begin + j);
    return {&waves(j, image, y, 0), &overlapping(position, image, y, 0),
            &kept(position, image, y, 0), residual_share(j), f};
  }
};

/// residual_share(j) = what to add of the residual in waves(j), whose squared norm is the distance
/// of the detector wave to the measured amplitudes, so that the distance becomes `bound`; 0 if it
/// is less.
inline void bound_distance(const device::Device& exec, const physics::WavesView& waves, int count,
                           double bound, const DeviceView<Real*>& residual_share) {
  using Policy = Kokkos::TeamPolicy<device::Device>;
  const auto h = static_cast<int>(waves.extent(2));
  const auto w = static_cast<int>(waves.extent(3));
  const int n = static_cast<int>(waves.extent(1)) * h * w;
  Kokkos::parallel_for(
      device::kernel_name("tessera::solvers::bound_distance"), Policy(exec, count, Kokkos::AUTO),
      KOKKOS_LAMBDA(const Policy::member_type& team) {
        const int j = team.league_rank();
        const complex* wave = &waves(j, 0, 0, 0);
        double distance = 0;
        Kokkos::parallel_reduce(
            Kokkos::TeamThreadRange(team, n),
            [&](const int i, double& sum) {
              sum += static_cast<double>(physics::squared_magnitude(wave[i]));
            },
            distance);
        Kokkos::single(Kokkos::PerTeam(team), [&] {
          residual_share(j) =
              distance <= bound ? Real(0) : Real(1 - device::math::sqrt(bound / distance));
        });
      });
}

/// probe = sum / overlap, where there is one. Sums: |change|^2, |probe|^2.
struct DivideProbe {
  physics::ProbeView probe;
  physics::ProbeView probe_sum;
  DeviceView<Real**> overlap;

  struct Row {
    complex* probe;
    const complex* probe_sum;
    const Real* overlap;
    KOKKOS_FUNCTION void operator()(const int x, Real* sum) const {
      const complex before = probe[x];
      const complex now = overlap[x] > 0 ? probe_sum[x] / overlap[x] : before;
      sum[0] += physics::squared_magnitude(now - before);
      sum[1] += physics::squared_magnitude(now);
      probe[x] = now;
    }
  };
  KOKKOS_FUNCTION Row row(const int m, const int y) const {
    return {&probe(m, y, 0), &probe_sum(m, y, 0), &overlap(y, 0)};
  }
};

}  // namespace tessera::solvers

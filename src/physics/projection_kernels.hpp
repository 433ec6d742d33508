#pragma once
/// What ProjectionPass does to every exit wave, step by step: the same to real and imaginary parts,
/// one after another. Plain functors.

#include "chunk_kernels.hpp"
#include "physics/projection_pass.hpp"

namespace tessera::physics {

/// What the map finds kept of the wave that P_O makes, so that r is that wave.
struct StartKept {
  Real part;
  KOKKOS_FUNCTION void operator()(Real& wave, Real&, Real& kept, Real) const { kept = wave * part; }
};

/// From P_O to scale r.
struct ReachModulus {
  LinearMap map;
  Real scale;
  KOKKOS_FUNCTION void operator()(Real& wave, Real&, Real& kept, Real) const {
    const Real r = wave * map.of_overlap + kept * map.of_kept;
    kept = map.from_overlap ? wave : r;
    wave = r * scale;
  }
};

/// From (P_M - 1) r / scale to what P_O projects next.
struct LeaveModulus {
  LinearMap map;
  Real scale;
  KOKKOS_FUNCTION void operator()(Real& wave, Real& next, Real& kept, Real share) const {
    const Real base = kept;
    wave = base + wave * (scale * map.of_residual * share);
    kept = wave * map.keeps_new + base * map.keeps_base;
    next = wave;
  }
};

/// To what P_O projects, again.
struct Recall {
  KOKKOS_FUNCTION void operator()(Real& wave, Real& next, Real&, Real) const { wave = next; }
};

/// f(wave, next, kept, residual share) for every part of a chunk's waves and of what its
/// positions store.
template <class F>
struct WithStored {
  WavesView waves;
  WavesView next;
  WavesView kept;
  DeviceView<Real*> residual_share;
  DeviceView<int*> order;
  int chunk_begin;
  int n_images;
  F f;

  struct Row {
    Real* wave;
    Real* next;
    Real* kept;
    Real share;
    F f;
    KOKKOS_FUNCTION void operator()(const int x) const { f(wave[x], next[x], kept[x], share); }
  };
  KOKKOS_FUNCTION Row row(const int i, const int y) const {
    const int j = i / n_images;
    const int image = i - j * n_images;
    const int position = order(chunk_begin + j);
    return {device::reals(&waves(j, image, y, 0)), device::reals(&next(position, image, y, 0)),
            device::reals(&kept(position, image, y, 0)), residual_share(j), f};
  }
};

/// residual_share(j) = what to add of the residual in waves(j), whose squared norm is the distance
/// of the detector wave to the measured amplitudes, so that the distance becomes `bound`; 0 if it
/// is less.
inline void bound_distance(const device::Device& exec, const WavesView& waves, int count,
                           double bound, const DeviceView<Real*>& residual_share) {
  using Policy = Kokkos::TeamPolicy<device::Device>;
  const auto h = static_cast<int>(waves.extent(2));
  const auto w = static_cast<int>(waves.extent(3));
  const int n = 2 * static_cast<int>(waves.extent(1)) * h * w;
  Kokkos::parallel_for(
      device::kernel_name("tessera::physics::bound_distance"), Policy(exec, count, Kokkos::AUTO),
      KOKKOS_LAMBDA(const Policy::member_type& team) {
        const int j = team.league_rank();
        const Real* wave = device::reals(&waves(j, 0, 0, 0));
        double distance = 0;
        Kokkos::parallel_reduce(
            Kokkos::TeamThreadRange(team, n),
            [&](const int i, double& sum) { sum += static_cast<double>(wave[i] * wave[i]); },
            distance);
        Kokkos::single(Kokkos::PerTeam(team), [&] {
          residual_share(j) =
              distance <= bound ? Real(0) : Real(1 - device::math::sqrt(bound / distance));
        });
      });
}

}  // namespace tessera::physics

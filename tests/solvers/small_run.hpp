#pragma once
/// A solver's surroundings on one rank, with the gradient sums of a batch in plain double loops.

#include "tessera/solvers/rank_setup.hpp"
#include "tessera/solvers/solver.hpp"

#include "support/small_scan.hpp"
#include "support/world.hpp"

namespace tessera::testing {

/// The sums of physics::GradientSums over some positions.
struct PlainSums {
  WaveStack object;
  ImageStack<double> illumination;
  WaveStack probe;
  ImageStack<double> overlap;
};

/// chi of position j: what the amplitude cost's negative gradient is at the exit waves.
inline WaveStack exit_wave_change(const SmallScan& scan, int j) {
  WaveStack waves = dft(exit_waves(scan.object, scan.probe, scan.corner[j], scan.subpixel[j]), -1);
  for (int y = 0; y < scan.window.h; ++y)
    for (int x = 0; x < scan.window.w; ++x) {
      double intensity = 0;
      for (int m = 0; m < waves.n(); ++m) intensity += std::norm(waves(m, y, x));
      const double factor =
          scan.valid_pixels(0, y, x) ? std::sqrt(scan.counts(j, y, x) / intensity) - 1 : 0;
      for (int m = 0; m < waves.n(); ++m) waves(m, y, x) *= factor;
    }
  return dft(waves, +1);
}

inline PlainSums plain_sums(const SmallScan& scan, std::span<const int> positions) {
  PlainSums sums{WaveStack(1, scan.object.shape()), ImageStack<double>(1, scan.object.shape()),
                 WaveStack(scan.probe.n(), scan.window), ImageStack<double>(1, scan.window)};
  for (const int j : positions) {
    const WaveStack chi = exit_wave_change(scan, j);
    const WaveStack probe = shifted(scan.probe, scan.subpixel[j]);
    WaveStack probe_term = chi;
    for (int y = 0; y < scan.window.h; ++y)
      for (int x = 0; x < scan.window.w; ++x) {
        const Pixel at{scan.corner[j].y + y, scan.corner[j].x + x};
        const Complex o = scan.object(0, at.y, at.x);
        sums.overlap(0, y, x) += std::norm(o);
        for (int m = 0; m < probe.n(); ++m) {
          sums.object(0, at.y, at.x) += std::conj(probe(m, y, x)) * chi(m, y, x);
          sums.illumination(0, at.y, at.x) += std::norm(probe(m, y, x));
          probe_term(m, y, x) *= std::conj(o);
        }
      }
    const WaveStack back = shifted(probe_term, {-scan.subpixel[j].y, -scan.subpixel[j].x});
    for (std::size_t i = 0; i < back.size(); ++i) sums.probe.data()[i] += back.data()[i];
  }
  return sums;
}

/// max over pixels of sum_m |probe_m|^2
inline double greatest_power(const WaveStack& probe) {
  double greatest = 0;
  for (int y = 0; y < probe.h(); ++y)
    for (int x = 0; x < probe.w(); ++x) {
      double power = 0;
      for (int m = 0; m < probe.n(); ++m) power += std::norm(probe(m, y, x));
      greatest = std::max(greatest, power);
    }
  return greatest;
}

/// Model, exchange and sweep for all positions of a scan.
struct SmallRun {
  SmallRun(const SmallScan& scan, int batch_size, physics::Noise noise = physics::Noise::amplitude)
      : unknowns{on_device(scan.object), on_device(scan.probe)},
        n_positions(static_cast<int>(scan.corner.size())),
        box(Box::at({0, 0}, scan.object.shape())),
        rank(halo::make_transport("auto", world()), {box, box, {}}, 3, scan.tile, {},
             {.n_modes = scan.probe.n(),
              .noise = noise,
              .chunk_size = 3,
              .max_slots = 3,
              .fixed_order = true,
              .planning = fft::Planning::reproducible}),
        model(rank.model),
        positions(all_of(n_positions)),
        schedule(positions, scan.corner, batch_size, decomposition::BatchOrder::random, 1),
        sweep(rank.make_sweep(schedule, {positions, std::vector<bool>(positions.size(), false),
                                         scan.corner, scan.subpixel, scan.window, box})) {}

  /// One epoch, and its sums.
  physics::FigureSums run_epoch(solvers::Solver& solver, int epoch) {
    solver.start_epoch({}, epoch);
    for (const solvers::Batch& batch : sweep.start_epoch({}, epoch))
      solver.run_batch({}, sweep, batch, epoch);
    solver.finish_epoch({}, sweep, epoch);
    const device::DeviceView<double*> taken("taken", physics::FigureSums::n_sums);
    solver.take_sums({}, taken);
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), taken);
    physics::FigureSums sums;
    std::copy_n(host.data(), sums.values.size(), sums.values.begin());
    return sums;
  }

  solvers::Unknowns unknowns;
  int n_positions;
  Box box;
  solvers::RankSetup rank;
  physics::ForwardModel& model;
  std::vector<int> positions;
  decomposition::BatchSchedule schedule;
  solvers::Sweep sweep;

 private:
  static std::vector<int> all_of(int n) {
    std::vector<int> all;
    for (int i = 0; i < n; ++i) all.push_back(i);
    return all;
  }
};

}  // namespace tessera::testing

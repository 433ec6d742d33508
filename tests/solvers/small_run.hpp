#pragma once
/// A solver's surroundings on one rank.

#include <algorithm>

#include "solvers/rank_setup.hpp"
#include "solvers/solver.hpp"
#include "support/small_scan.hpp"
#include "support/world.hpp"

namespace tessera::testing {

/// Model, exchange and sweep for all positions of a scan.
struct SmallRun {
  /// @param sampled positions of the sample; empty: all are
  SmallRun(const SmallScan& scan, int batch_size, physics::Noise noise = physics::Noise::amplitude,
           const std::vector<bool>& sampled = {})
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
        near{scan.window, positions, scan.corner, std::vector<int>(positions.size())},
        sweep(rank.make_sweep(schedule, share(scan, sampled))) {}

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
  decomposition::NearWindows near;
  solvers::Sweep sweep;

 private:
  solvers::ScanShare share(const SmallScan& scan, const std::vector<bool>& sampled) const {
    solvers::ScanShare made{positions, std::vector<bool>(positions.size(), false), scan.subpixel,
                            near};
    made.sampled = sampled;
    if (const auto n = std::ranges::count(sampled, true); n > 0)
      made.positions_per_sampled = static_cast<double>(n_positions) / static_cast<double>(n);
    return made;
  }
  static std::vector<int> all_of(int n) {
    std::vector<int> all;
    for (int i = 0; i < n; ++i) all.push_back(i);
    return all;
  }
};

}  // namespace tessera::testing

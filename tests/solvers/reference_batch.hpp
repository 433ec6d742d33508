#pragma once
/// A batch's sums by the plain model, and a solver's epochs beside it.

#include <span>

#include "solvers/rank_setup.hpp"
#include "solvers/solver.hpp"
#include "support/small_scan.hpp"
#include "support/world.hpp"

namespace tessera::solvers::testing {

using tessera::testing::Complex;
using tessera::testing::SmallScan;

inline constexpr int n_modes = 2;
inline constexpr int n_positions = 4;

/// With what its weights look at.
struct ReferenceSums : tessera::testing::PlainSums {
  double max_power = 0;
  double max_overlap = 0;

  /// What divides the object's sum, and the probe's.
  double object_weight(std::size_t i, double alpha) const {
    const double d = dose.data()[i];
    return std::max(d, (1 - alpha) * d + alpha * max_power);
  }
  double probe_weight(int y, int x, double alpha) const {
    return (1 - alpha) * overlap(0, y, x) + alpha * max_overlap;
  }
};

inline ReferenceSums reference_sums(const SmallScan& scan, std::span<const int> positions) {
  ReferenceSums sums{tessera::testing::plain_sums(scan, positions)};
  sums.max_power = tessera::testing::max_power(scan.probe);
  sums.max_overlap = *std::max_element(sums.overlap.begin(), sums.overlap.end());
  return sums;
}

struct Case {
  bool subpixel = true;
  int batch_size = 0;
  int window = 8;
  bool fixed_order = true;
  std::vector<bool> sampled = {};  ///< empty: all positions
  int fewest_apart = 0;            ///< of ScanShare
};

/// Epochs first ... end - 1 of make(unknowns, model, all of the object), with after_batch(positions
/// of the batch, epoch) and after_epoch() for the reference. The unknowns afterwards.
template <class Make, class AfterBatch, class AfterEpoch>
Unknowns run_epochs(const Case& c, const SmallScan& scan, int first, int end, const Make& make,
                    const AfterBatch& after_batch, const AfterEpoch& after_epoch) {
  Unknowns unknowns{tessera::testing::on_device(scan.object),
                    tessera::testing::on_device(scan.probe)};
  const Box all = Box::at({0, 0}, scan.object.shape());
  RankSetup rank(halo::make_transport("auto", tessera::testing::world()), {all, all, {}}, 3,
                 scan.tile, {},
                 {.n_modes = n_modes,
                  .chunk_size = 3,
                  .max_slots = 3,
                  .fixed_order = c.fixed_order,
                  .planning = fft::Planning::reproducible});
  const std::vector<int> positions{0, 1, 2, 3};
  decomposition::BatchSchedule schedule(positions, scan.corner, c.batch_size,
                                        decomposition::BatchOrder::random, 1);
  const decomposition::NearWindows near{scan.window, positions, scan.corner,
                                        std::vector<int>(n_positions)};
  ScanShare share{positions, std::vector<bool>(n_positions, false), scan.subpixel, near};
  share.sampled = c.sampled;
  share.fewest_apart = c.fewest_apart;
  Sweep sweep = rank.make_sweep(schedule, share);
  auto solver = make(unknowns, rank.model, all);
  for (int epoch = first; epoch < end; ++epoch) {
    solver.start_epoch({}, epoch);
    for (const Batch& batch : sweep.start_epoch({}, epoch))
      solver.run_batch({}, sweep, batch, epoch);
    solver.finish_epoch({}, sweep, epoch);
    schedule.start_epoch(epoch);
    for (const int id : schedule.visiting_order()) after_batch(schedule.batch(id), epoch);
    after_epoch();
  }
  return unknowns;
}

}  // namespace tessera::solvers::testing

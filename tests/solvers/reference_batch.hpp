#pragma once
/// What a batch adds up, in plain double-precision loops, and a solver's epochs beside it.

#include <span>

#include "tessera/solvers/rank_setup.hpp"
#include "tessera/solvers/solver.hpp"

#include "support/small_scan.hpp"
#include "support/world.hpp"

namespace tessera::solvers::testing {

using tessera::testing::Complex;
using tessera::testing::SmallScan;

inline constexpr int n_modes = 2;
inline constexpr int n_positions = 4;

inline double squared_magnitude_sum(const WaveStack& probe, int y, int x) {
  double sum = 0;
  for (int m = 0; m < probe.n(); ++m) sum += std::norm(probe(m, y, x));
  return sum;
}

/// chi: what the modulus constraint adds to the exit waves of position j.
inline WaveStack exit_wave_change(const SmallScan& scan, int j) {
  const Shape2 window = scan.window;
  WaveStack waves = tessera::testing::dft(
      tessera::testing::exit_waves(scan.object, scan.probe, scan.corner[j], scan.subpixel[j]), -1);
  for (int y = 0; y < window.h; ++y)
    for (int x = 0; x < window.w; ++x) {
      const double model = std::sqrt(squared_magnitude_sum(waves, y, x));
      const double factor =
          scan.valid_pixels(0, y, x) ? std::sqrt(scan.counts(j, y, x)) / model - 1 : 0;
      for (int m = 0; m < n_modes; ++m) waves(m, y, x) *= factor;
    }
  return tessera::testing::dft(waves, +1);
}

struct ReferenceSums {
  WaveStack object;
  ImageStack<double> illumination;
  WaveStack probe;
  ImageStack<double> overlap;
  double greatest_power = 0;
  double greatest_overlap = 0;

  /// What divides the object's sum, and the probe's.
  double object_weight(std::size_t i, double alpha) const {
    const double d = illumination.data()[i];
    return std::max(d, (1 - alpha) * d + alpha * greatest_power);
  }
  double probe_weight(int y, int x, double alpha) const {
    return (1 - alpha) * overlap(0, y, x) + alpha * greatest_overlap;
  }
};

inline void add_position(const SmallScan& scan, int j, ReferenceSums& sums) {
  const Shape2 window = scan.window;
  const WaveStack chi = exit_wave_change(scan, j);
  const WaveStack probe = tessera::testing::shifted(scan.probe, scan.subpixel[j]);
  WaveStack probe_term = chi;
  for (int y = 0; y < window.h; ++y)
    for (int x = 0; x < window.w; ++x) {
      const Pixel at{scan.corner[j].y + y, scan.corner[j].x + x};
      const Complex o = scan.object(0, at.y, at.x);
      sums.overlap(0, y, x) += std::norm(o);
      for (int m = 0; m < n_modes; ++m) {
        sums.object(0, at.y, at.x) += std::conj(probe(m, y, x)) * chi(m, y, x);
        sums.illumination(0, at.y, at.x) += std::norm(probe(m, y, x));
        probe_term(m, y, x) *= std::conj(o);
      }
    }
  const WaveStack back =
      tessera::testing::shifted(probe_term, {-scan.subpixel[j].y, -scan.subpixel[j].x});
  for (std::size_t i = 0; i < back.size(); ++i) sums.probe.data()[i] += back.data()[i];
}

inline ReferenceSums reference_sums(const SmallScan& scan, std::span<const int> positions) {
  const Shape2 window = scan.window;
  ReferenceSums sums{WaveStack(1, scan.object.shape()), ImageStack<double>(1, scan.object.shape()),
                     WaveStack(n_modes, window), ImageStack<double>(1, window)};
  for (const int j : positions) add_position(scan, j, sums);
  for (int y = 0; y < window.h; ++y)
    for (int x = 0; x < window.w; ++x) {
      sums.greatest_power = std::max(sums.greatest_power, squared_magnitude_sum(scan.probe, y, x));
      sums.greatest_overlap = std::max(sums.greatest_overlap, sums.overlap(0, y, x));
    }
  return sums;
}

struct Case {
  bool subpixel = true;
  int batch_size = 0;
  int window = 8;
  bool fixed_order = true;
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
  Sweep sweep = rank.make_sweep(schedule, {positions, std::vector<bool>(n_positions, false),
                                           scan.corner, scan.subpixel, scan.window, all});
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

#pragma once
/// Least squares per batch: how far to go along object and probe is solved for, not set.

#include "tessera/physics/products_pass.hpp"
#include "tessera/solvers/batch_sums.hpp"
#include "tessera/solvers/epoch_end.hpp"
#include "tessera/solvers/owned_tile.hpp"
#include "tessera/solvers/solver.hpp"
#include "tessera/solvers/step_schedule.hpp"

namespace tessera::solvers {

struct LsqmlOptions {
  double object_step = 1;  ///< of the length that is solved for
  double probe_step = 1;
  double object_alpha = 0.1;
  double probe_alpha = 0.1;
  StepSchedule schedule = {};  ///< of both steps
  int probe_start_epoch = 0;   ///< first epoch, from 0, that updates the probe
  EpochEndOptions epoch_end = {};
  int most_in_batch = 1;  ///< positions of this rank, at most
};

/// Least-squares maximum likelihood (Odstrcil, Menzel & Guizar-Sicairos 2018, Opt. Express 26,
/// 3108, eqs. 19-26). Directions of a batch, weighted as in Pie:
///   dO = sum_jm conj(P_jm) chi_jm / weight(sum_jm |P_jm|^2),
///   dP_m = sum_j conj(O_j) chi_jm / weight(sum_j |O_j|^2),
/// and for every position j the lengths a, b that minimise
///   sum_m ||chi_jm - a u_jm - b v_jm||^2 + damping (a^2 ||u_j||^2 + b^2 ||v_j||^2)
/// where u and v are what dO and dP change in the exit waves: P_jm dO and dP_jm O for a thin
/// sample, for a thick one u is the difference that dO makes. Then O += step mean_j(a) dO and P +=
/// step mean_j(b) dP. Per batch the ranks exchange 3 Reals per ghost pixel to owners, 2 back, and
/// all-reduce 2 n_modes + 1 Reals per probe pixel and 3 doubles.
class Lsqml final : public Solver {
 public:
  Lsqml(const LsqmlOptions& options, Unknowns& unknowns, physics::ForwardModel& model,
        const Box& ghosted, const Box& owned);

  void start_epoch(const device::Device& exec, int epoch) override;
  bool repeats_from(int epoch) const override { return epoch >= options_.probe_start_epoch; }
  void run_batch(const device::Device& exec, Sweep& sweep, const Batch& batch, int epoch) override;
  void finish_epoch(const device::Device& exec, Sweep& sweep, int epoch) override;
  void take_sums(const device::Device& exec, const device::DeviceView<double*>& taken) override;

  /// Tikhonov damping of the 2 x 2 equations, relative to their diagonal.
  static constexpr double damping = 0.1;

 private:
  void find_directions(const device::Device& exec, Sweep& sweep, const Batch& batch,
                       bool moves_probe);
  void find_lengths(const device::Device& exec, Sweep& sweep, const Batch& batch);

  LsqmlOptions options_;
  Unknowns& unknowns_;
  physics::ForwardModel& model_;
  physics::ProductsPass pass_;
  OwnedTile tile_;
  BatchSums batch_sums_;                     ///< of object and probe also the directions
  physics::ObjectView moved_;                ///< object + direction, for thick samples
  device::DeviceView<double*> length_sums_;  ///< a, b, positions
  device::DeviceView<double*> scratch_;
  device::DeviceView<Real[2]> steps_;          ///< of this epoch: object, probe
  device::DeviceView<Real[2]> lengths_;        ///< of this batch, times steps
  device::DeviceView<Real> greatest_power_;    ///< max_x sum_m |P_m|^2
  device::DeviceView<Real> greatest_overlap_;  ///< max_x sum_j |O_j|^2
  EpochEnd epoch_end_;
};

}  // namespace tessera::solvers

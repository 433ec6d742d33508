#pragma once
/// Mini-batch rPIE, ePIE and mPIE.

#include "tessera/physics/gradient_pass.hpp"
#include "tessera/physics/probe_update.hpp"
#include "tessera/solvers/batch_sums.hpp"
#include "tessera/solvers/epoch_end.hpp"
#include "tessera/solvers/owned_tile.hpp"
#include "tessera/solvers/solver.hpp"
#include "tessera/solvers/step_schedule.hpp"

namespace tessera::solvers {

struct PieOptions {
  double object_step = 1;
  double probe_step = 1;
  double object_alpha = 1;  ///< 1: ePIE
  double probe_alpha = 1;
  StepSchedule schedule = {};  ///< of both steps
  int probe_start_epoch = 0;   ///< first epoch, from 0, that updates the probe
  EpochEndOptions epoch_end = {};
};

/// Regularised ptychographical iterative engine (Maiden, Johnson & Li 2017, Optica 4, 736, eqs. 15
/// and 18), its update summed over the positions j of a batch instead of made position by position:
///   object += step sum_jm conj(P_jm) chi_jm / max(D, (1 - alpha) D + alpha max_x sum_m |P_m|^2)
///   probe_m += step sum_j conj(O_j) chi_jm / ((1 - alpha) S + alpha max_x S)
/// with D = sum_jm |P_jm|^2, S = sum_j |O_j|^2, and chi what the modulus constraint adds to the
/// exit wave. The max with D bounds the update where many windows of a batch overlap. With alpha =
/// 1 this is ePIE (Maiden & Rodenburg 2009). Both updates start from the same object and probe. Per
/// batch the ranks exchange 3 Reals per ghost pixel to owners, 2 back, and all-reduce 2 n_modes + 1
/// Reals per probe pixel. Outside the blocks that a batch touches the object's sums are and stay
/// zero, and nothing is done.
class Pie final : public Solver {
 public:
  Pie(const PieOptions& options, Unknowns& unknowns, physics::ForwardModel& model,
      const Box& ghosted, const Box& owned);

  void start_epoch(const device::Device& exec, int epoch) override;
  bool repeats_from(int epoch) const override { return epoch >= options_.probe_start_epoch; }
  void run_batch(const device::Device& exec, Sweep& sweep, const Batch& batch, int epoch) override;
  void finish_epoch(const device::Device& exec, Sweep& sweep, int epoch) override;
  void take_sums(const device::Device& exec, const device::DeviceView<double*>& taken) override;

  /// Owners update their pixels from complete sums. Those of the touched blocks, ghosts' too,
  /// become zero.
  void update_object(const device::Device& exec, const TouchedBlocks& touched);

 private:
  PieOptions options_;
  Unknowns& unknowns_;
  physics::GradientPass gradient_;
  OwnedTile tile_;
  BatchSums batch_sums_;  ///< zero between batches
  physics::ProbeUpdate probe_update_;
  device::DeviceView<Real[2]> steps_;  ///< of this epoch: object, probe
  EpochEnd epoch_end_;
};

}  // namespace tessera::solvers

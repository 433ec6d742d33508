#pragma once
/// Mini-batch rPIE, ePIE and mPIE.

#include "physics/probe_update.hpp"
#include "solvers/batch_method.hpp"

namespace tessera::solvers {

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
class Pie final : public BatchMethod<settings::Pie> {
 public:
  Pie(const settings::Solver& settings, Unknowns& unknowns, physics::ForwardModel& model,
      const OwnedTile& tile);

  void start_epoch(const device::Device& exec, int epoch) override;
  void run_batch(const device::Device& exec, Sweep& sweep, const Batch& batch, int epoch) override;

  /// Owners update their pixels from complete sums. Those of the touched blocks, ghosts' too,
  /// become zero.
  void update_object(const device::Device& exec, const BlockList& touched);

 private:
  physics::ProbeUpdate probe_update_;  ///< the probe's sums are zero between batches
};

}  // namespace tessera::solvers

#pragma once
/// What every reconstruction method is to the epoch loop.

#include "tessera/comm/communicator.hpp"
#include "tessera/solvers/sweep.hpp"

#include "physics/forward_model.hpp"
#include "solvers/fields.hpp"

namespace tessera::solvers {

/// What is reconstructed. The object lives on the rank's ghosted box and is exchanged by the halo;
/// the probe is the same on all ranks; the parameters are shared with the model.
struct Unknowns {
  physics::ObjectView object;  ///< (n_modes * n_slices, H, W)
  physics::ProbeView probe;    ///< (n_modes + n_opr_modes, h, w)
  physics::Parameters parameters = {};
};

/// A method. It says what one batch adds up and what it does with the sums; batches, exchange and
/// the epoch loop know nothing of it. All calls are collective.
class Solver {
 public:
  virtual ~Solver() = default;
  /// Before the first batch of `epoch` (from 0).
  virtual void start_epoch(const device::Device& exec, int epoch) = 0;
  /// From `epoch` on a batch launches the same work again and again: what changes from epoch to
  /// epoch lies on the device. Such batches can be recorded in a device::Graph.
  virtual bool repeats_from(int epoch) const = 0;
  /// One update of the unknowns from the positions of `batch`; afterwards ghosts equal their
  /// owners' values.
  virtual void run_batch(const device::Device& exec, Sweep& sweep, const Batch& batch,
                         int epoch) = 0;
  /// One of its batches goes as far as many: what is refined beside it takes several steps after it
  /// (Refinement::n_steps), and before each but the first `add_slopes` has seen the batch again.
  virtual bool goes_far() const { return false; }
  /// The batch's slopes of what is refined, where all unknowns are now. Moves nothing.
  virtual void add_slopes(const device::Device&, Sweep&, const Batch&) {}
  /// Between epochs: some positions, on any of the ranks, were put far from where they were.
  virtual void take_far_moves() {}
  /// Between epochs: constraints are about to move object or probe, uphill perhaps.
  virtual void expect_constraints(const device::Device&) {}
  /// After the last batch of `epoch` (from 0).
  virtual void finish_epoch(const device::Device& exec, Sweep& sweep, int epoch) = 0;
  /// This rank's running sums of the epoch, each batch before its update, to the first values of
  /// `taken` in the order of physics::FigureSums. Does not wait for the device.
  virtual void take_sums(const device::Device& exec, const device::DeviceView<double*>& taken) = 0;
  /// What it remembers from epoch to epoch besides the unknowns, the same list on all ranks. With
  /// these values as they were, the next epoch is the one that would have been.
  virtual Fields memory() = 0;
};

}  // namespace tessera::solvers

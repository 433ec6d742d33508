#pragma once
/// What the methods do about an epoch's batches: before the first, and after the last.

#include "physics/probe_modes.hpp"
#include "solvers/momentum.hpp"

namespace tessera::solvers {

/// Momentum; then modes orthogonal and sorted by power; then the probe the same on all ranks.
class EpochEnd {
 public:
  /// @param momentum see Momentum; 0: none
  /// @param orthogonalise_every epochs; 0: never
  EpochEnd(double momentum, int orthogonalise_every, const Unknowns& unknowns,
           const physics::ForwardModel& model, const OwnedTile& tile);

  static std::int64_t bytes(double momentum, const physics::Sizes& sizes) {
    return Momentum::bytes(momentum, sizes) + physics::ModeOrthogonaliser::bytes(sizes);
  }

  /// Before the first batch: momentum counts what changes from here on.
  void start(const device::Device& exec) const { momentum_.remember(exec); }
  /// After the last batch of `epoch` (from 0). With momentum the object's ghosts are filled: 2
  /// Reals per ghost pixel and plane. True where it has mixed the probe's modes: what else belongs
  /// to them has to follow. Collective.
  bool finish(const device::Device& exec, Sweep& sweep, int epoch);
  /// The momentum's.
  Fields memory() const { return momentum_.memory(); }
  /// How they were mixed.
  const physics::ModeOrthogonaliser& modes() const { return orthogonaliser_; }

 private:
  int orthogonalise_every_;
  Unknowns unknowns_;
  Momentum momentum_;
  int n_modes_;
  physics::ModeOrthogonaliser orthogonaliser_;
};

}  // namespace tessera::solvers

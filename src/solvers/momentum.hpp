#pragma once
/// Momentum of object and probe: steps in the same direction, epoch after epoch, add up.

#include "tessera/physics/sizes.hpp"

#include "solvers/owned_tile.hpp"
#include "solvers/solver.hpp"

namespace tessera::solvers {

/// velocity = friction velocity + (now - before);  now = before + velocity, where `before` is
/// what `remember` found (mPIE of Maiden, Johnson & Li 2017, Optica 4, 736). With friction
/// 0 it does nothing and holds nothing.
class Momentum {
 public:
  Momentum(double friction, const Unknowns& unknowns, const OwnedTile& tile);

  static std::int64_t bytes(double friction, const physics::Sizes& sizes) {
    return friction > 0 ? 2 * (sizes.object_bytes() + sizes.probe_bytes()) : 0;
  }

  bool is_on() const { return friction_ > 0; }
  /// Object (owned pixels; who calls fills the ghosts) and probe move on.
  void apply(const device::Device& exec);
  /// The probe's velocity, for who mixes its modes. Empty with friction 0.
  const physics::ProbeView& probe_velocity() const { return probe_velocity_; }
  /// `before` of the next `apply` is what the unknowns hold now.
  void remember(const device::Device& exec) const;
  /// The velocities; none with friction 0.
  Fields memory() const;

 private:
  double friction_;
  Unknowns unknowns_;
  OwnedTile tile_;
  physics::ObjectView object_velocity_;
  physics::ObjectView object_before_;
  physics::ProbeView probe_velocity_;
  physics::ProbeView probe_before_;
};

}  // namespace tessera::solvers

#include "solvers/epoch_end.hpp"

#include "solvers/batch_sums.hpp"

namespace tessera::solvers {

EpochEnd::EpochEnd(double momentum, int orthogonalise_every, const Unknowns& unknowns,
                   const physics::ForwardModel& model, const OwnedTile& tile)
    : orthogonalise_every_(orthogonalise_every),
      unknowns_(unknowns),
      momentum_(momentum, unknowns, tile),
      n_modes_(model.n_modes()),
      orthogonaliser_(n_modes_, model.scan().window) {}

bool EpochEnd::finish(const device::Device& exec, Sweep& sweep, int epoch) {
  if (momentum_.is_on()) {
    momentum_.apply(exec);
    sweep.fill(exec, halo::tile_field(unknowns_.object));
  }
  const bool mixes =
      n_modes_ > 1 && orthogonalise_every_ > 0 && (epoch + 1) % orthogonalise_every_ == 0;
  if (mixes) {
    orthogonaliser_.orthogonalise(exec, unknowns_.probe);
    if (momentum_.is_on()) orthogonaliser_.mix(exec, momentum_.probe_velocity());
  }
  // Ranks may round differently (other processors, other transform plans): without this their
  // probes drift apart.
  sweep.replicate(exec, as_reals(unknowns_.probe));
  return mixes;
}

}  // namespace tessera::solvers

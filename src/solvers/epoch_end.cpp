#include "tessera/solvers/epoch_end.hpp"

#include "tessera/solvers/batch_sums.hpp"

namespace tessera::solvers {

EpochEnd::EpochEnd(const EpochEndOptions& options, const Unknowns& unknowns,
                   const physics::ForwardModel& model, const OwnedTile& tile)
    : options_(options),
      unknowns_(unknowns),
      momentum_(options.friction, unknowns, tile),
      n_modes_(model.n_modes()),
      orthogonaliser_(n_modes_, model.scan().window) {}

bool EpochEnd::finish(const device::Device& exec, Sweep& sweep, int epoch) {
  if (momentum_.is_on()) {
    momentum_.apply(exec);
    sweep.fill(exec, halo::tile_field(unknowns_.object));
  }
  const int every = options_.orthogonalise_every;
  const bool mixes = n_modes_ > 1 && every > 0 && (epoch + 1) % every == 0;
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

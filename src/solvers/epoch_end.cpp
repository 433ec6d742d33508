#include "tessera/solvers/epoch_end.hpp"

#include <array>

#include "tessera/solvers/batch_sums.hpp"

namespace tessera::solvers {

namespace {

/// Without the OPR modes behind them.
physics::ProbeView modes_of(const physics::ProbeView& probe, int n_modes) {
  return physics::ProbeView(probe.data(), static_cast<std::size_t>(n_modes), probe.extent(1),
                            probe.extent(2));
}

}  // namespace

EpochEnd::EpochEnd(const EpochEndOptions& options, const Unknowns& unknowns,
                   const physics::ForwardModel& model, const OwnedTile& tile)
    : options_(options),
      unknowns_(unknowns),
      momentum_(options.friction, unknowns, tile),
      n_modes_(model.n_modes()),
      orthogonaliser_(n_modes_, model.scan().window) {}

void EpochEnd::finish(const device::Device& exec, Sweep& sweep, int epoch) {
  if (momentum_.is_on()) {
    momentum_.apply(exec);
    const std::array object{comm::tile_field(unknowns_.object)};
    sweep.fill(exec, object);
  }
  const int every = options_.orthogonalise_every;
  if (n_modes_ > 1 && every > 0 && (epoch + 1) % every == 0) {
    orthogonaliser_.orthogonalise(exec, modes_of(unknowns_.probe, n_modes_));
    if (momentum_.is_on())
      orthogonaliser_.mix(exec, modes_of(momentum_.probe_velocity(), n_modes_));
  }
  // Ranks may round differently (other processors, other transform plans): without this their
  // probes drift apart.
  sweep.replicate(exec, as_reals(unknowns_.probe));
}

}  // namespace tessera::solvers

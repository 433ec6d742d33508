#include "solvers/pie.hpp"

namespace tessera::solvers {

using device::complex;
using device::Device;
using physics::Chunk;

Pie::Pie(const settings::Solver& settings, Unknowns& unknowns, physics::ForwardModel& model,
         const OwnedTile& tile)
    : BatchMethod(settings, unknowns, model, tile),
      probe_update_(model, unknowns.probe, batch_sums_.sums()) {}

void Pie::start_epoch(const Device& exec, int epoch) {
  BatchMethod::start_epoch(exec, epoch);
  probe_update_.start_epoch(exec);
}

void Pie::run_batch(const Device& exec, Sweep& sweep, const Batch& batch, int epoch) {
  const device::Region region("batch");
  probe_update_.start_batch(exec);
  batch_sums_.add_up(exec, sweep, batch, [&](const Chunk& chunk) {
    pass_.add(exec, unknowns_.object, chunk, batch_sums_.sums(), moves_probe(epoch));
  });
  update_object(exec, batch.touched);
  if (moves_probe(epoch)) {
    const device::Region update("update probe");
    probe_update_.apply(exec, steps_.data() + 1, static_cast<Real>(own_.alphas.probe));
  }
  sweep.fill(exec, batch, halo::tile_field(unknowns_.object));
}

void Pie::update_object(const Device& exec, const BlockList& touched) {
  const device::Region region("update object");
  const auto object = unknowns_.object;
  const auto sum = batch_sums_.sums().object;
  const auto dose = batch_sums_.sums().dose;
  const auto max_power = probe_update_.max_power();
  const auto steps = steps_;
  const auto tile = tile_;
  const auto alpha = static_cast<Real>(own_.alphas.object);
  for_each_touched_pixel(
      exec, "tessera::solvers::update_object", static_cast<int>(object.extent(0)), touched, tile_,
      KOKKOS_LAMBDA(const int plane, const int y, const int x) {
        if (tile.owns(y, x)) {
          const Real weight = physics::update_weight(dose(plane, y, x), max_power(), alpha);
          object(plane, y, x) += sum(plane, y, x) * (steps(0) / weight);
        }
        sum(plane, y, x) = complex(0);
        dose(plane, y, x) = 0;
      });
}

}  // namespace tessera::solvers

#include "solvers/pie.hpp"

#include "solvers/methods.hpp"

namespace tessera::solvers {

using device::complex;
using device::Device;
using device::DeviceView;
using physics::Chunk;

namespace {

/// The sums become zero. What slices see of the residual is much the same: each takes a share.
struct MoveObject : ObjectAndSums {
  DeviceView<Real> max_power;
  DeviceView<Real[2]> steps;
  OwnedTile tile;
  Real alpha;
  Real share_of_slice;

  KOKKOS_FUNCTION void write(int plane, int y, int x, const Pixel& was) const {
    // Of a spread batch's blocks a good part is between windows.
    if (was.dose == 0 && was.sum == complex(0)) return;
    if (tile.owns(y, x)) {
      const Real weight = physics::update_weight(was.dose, max_power(), alpha);
      object(plane, y, x) = was.object + was.sum * (steps(0) * share_of_slice / weight);
    }
    clear_sums(plane, y, x);
  }
};

}  // namespace

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
  device::Beside& probe_side = beside(sweep);
  probe_update_.start_batch(exec);
  batch_sums_.add_up(
      exec, sweep, batch,
      [&](const Chunk& chunk) {
        pass_.add(exec, unknowns_.object, chunk, batch_sums_.sums(), moves_probe(epoch));
      },
      &probe_side);
  update_object(exec, batch.touched);
  if (moves_probe(epoch)) {
    const device::Region update("update probe");
    // Behind the object's update, which is measured by the probe as it was.
    probe_update_.apply(probe_side.fork(exec), steps_.data() + 1,
                        static_cast<Real>(own_.alphas.probe));
  }
  sweep.fill(exec, batch, halo::tile_field(unknowns_.object));
  probe_side.join(exec);
}

void Pie::update_object(const Device& exec, const BlockList& touched) {
  const device::Region region("update object");
  update_touched_pixels(exec, "tessera::solvers::update_object",
                        static_cast<int>(unknowns_.object.extent(0)), touched, tile_,
                        MoveObject{{unknowns_.object, batch_sums_.sums()},
                                   probe_update_.max_power(),
                                   steps_,
                                   tile_,
                                   static_cast<Real>(own_.alphas.object),
                                   Real(1) / static_cast<Real>(model_.options().n_slices)});
}

template <>
Method method_of<settings::Pie>() {
  return method<Pie>();
}

}  // namespace tessera::solvers

#include "tessera/solvers/lsqml.hpp"

#include "lsqml_kernels.hpp"

namespace tessera::solvers {

using device::Device;
using physics::Chunk;

Lsqml::Lsqml(const LsqmlOptions& options, Unknowns& unknowns, physics::ForwardModel& model,
             const Box& ghosted, const Box& owned)
    : options_(options),
      unknowns_(unknowns),
      model_(model),
      pass_(model, options.most_in_batch),
      tile_(ghosted, owned),
      batch_sums_(unknowns),
      length_sums_("tessera::solvers::length_sums", n_length_sums),
      scratch_("tessera::solvers::length_scratch", n_length_sums),
      steps_("tessera::solvers::steps"),
      lengths_("tessera::solvers::lengths"),
      greatest_power_("tessera::solvers::greatest_power"),
      greatest_overlap_("tessera::solvers::greatest_overlap"),
      epoch_end_(options.epoch_end, unknowns, model, tile_) {
  if (model.options().n_slices > 1)
    moved_ = physics::ObjectView("tessera::solvers::moved", unknowns.object.layout());
}

void Lsqml::start_epoch(const Device& exec, int epoch) {
  const double fraction = options_.schedule.fraction(epoch);
  set_steps(exec, steps_, options_.object_step * fraction, options_.probe_step * fraction);
  epoch_end_.start(exec);
}

void Lsqml::run_batch(const Device& exec, Sweep& sweep, const Batch& batch, int epoch) {
  const device::Region region("batch");
  find_directions(exec, sweep, batch, epoch >= options_.probe_start_epoch);
  find_lengths(exec, sweep, batch);
  const physics::GradientSums& sums = batch_sums_.sums();
  // Ghosts hold the direction as owners do: they move alike, and nothing has to travel.
  move_object(exec, unknowns_.object, sums, lengths_, batch.touched, tile_);
  move_probe(exec, unknowns_.probe, sums.probe, lengths_);
}

/// Afterwards batch_sums_ holds the directions, ghosts' too; outside the touched blocks zero.
void Lsqml::find_directions(const Device& exec, Sweep& sweep, const Batch& batch,
                            bool moves_probe) {
  const physics::GradientSums& sums = batch_sums_.sums();
  model_.set_probe(exec, unknowns_.probe);
  physics::find_max_power(exec, unknowns_.probe, greatest_power_);
  batch_sums_.clear_shared(exec);
  batch_sums_.add_up(exec, sweep, batch, [&](const Chunk& chunk) {
    pass_.add(exec, unknowns_.object, chunk, chunk.begin - batch.chunks().front().begin, sums,
              moves_probe);
  });
  weigh_object_sum(exec, sums, greatest_power_, options_.object_alpha, batch.touched, tile_);
  sweep.fill(exec, halo::tile_field(sums.object));
  model_.finish_probe_gradient(exec, sums.probe);
  physics::find_max(exec, sums.overlap, greatest_overlap_);
  weigh_probe_sum(exec, sums, greatest_overlap_, options_.probe_alpha);
}

void Lsqml::find_lengths(const Device& exec, Sweep& sweep, const Batch& batch) {
  const physics::GradientSums& direction = batch_sums_.sums();
  if (moved_.size() > 0)
    add_direction(exec, unknowns_.object, direction.object, moved_, batch.touched, tile_);
  const physics::Products& products = pass_.find(
      exec, unknowns_.object, {direction.object, direction.probe, moved_}, batch.chunks());
  sum_lengths(exec, products, batch.n_positions(), damping, scratch_, length_sums_);
  sweep.all_reduce(exec, length_sums_);
  set_lengths(exec, length_sums_, steps_, lengths_);
}

void Lsqml::finish_epoch(const Device& exec, Sweep& sweep, int epoch) {
  sweep.fill(exec,
             halo::tile_field(unknowns_.object));  // what ranks round differently does not add up
  epoch_end_.finish(exec, sweep, epoch);
}

void Lsqml::take_sums(const Device& exec, const device::DeviceView<double*>& taken) {
  pass_.figures().take(exec, taken);
}

}  // namespace tessera::solvers

#include "tessera/solvers/lsqml.hpp"

#include "lsqml_kernels.hpp"

namespace tessera::solvers {

using device::complex;
using device::Device;
using physics::Chunk;

namespace {

template <class F>
void for_each_chunk(const Batch& batch, const F& f) {
  for (const auto& chunks : {batch.border, batch.interior})
    for (const Chunk& chunk : chunks) f(chunk);
}

/// Place of the batch's first position in the epoch's order.
int first_of(const Batch& batch) {
  const auto chunks = batch.border.empty() ? batch.interior : batch.border;
  return chunks.empty() ? 0 : chunks.front().begin;
}

int count_of(const Batch& batch) {
  int count = 0;
  for_each_chunk(batch, [&](const Chunk& chunk) { count += chunk.count; });
  return count;
}

physics::WavesView waves_of_batch(const std::string& name, int n, const physics::WavesView& waves) {
  return physics::WavesView(name, n, waves.extent(1), waves.extent(2), waves.extent(3));
}

}  // namespace

Lsqml::Lsqml(const LsqmlOptions& options, Unknowns& unknowns, physics::ForwardModel& model,
             const Box& ghosted, const Box& owned)
    : options_(options),
      unknowns_(unknowns),
      model_(model),
      gradient_(model),
      tile_(ghosted, owned),
      batch_sums_(unknowns),
      chi_(waves_of_batch("tessera::solvers::chi", options.most_in_batch, model.waves())),
      changes_(waves_of_batch("tessera::solvers::changes",
                              model.fused() ? 0 : options.most_in_batch, model.waves())),
      products_("tessera::solvers::products", options.most_in_batch),
      length_sums_("tessera::solvers::length_sums", n_length_sums),
      scratch_("tessera::solvers::length_scratch", n_length_sums),
      steps_("tessera::solvers::steps"),
      lengths_("tessera::solvers::lengths"),
      greatest_power_("tessera::solvers::greatest_power"),
      greatest_overlap_("tessera::solvers::greatest_overlap"),
      epoch_end_(options.epoch_end, unknowns, model, tile_) {
  if (model.options().n_slices > 1)
    moved_ = physics::ObjectView("tessera::solvers::moved", unknowns.object.layout());
  if (model.fused()) fused_products_ = std::make_unique<physics::FusedProducts>(model);
}

void Lsqml::start_epoch(const Device& exec, int epoch) {
  const double fraction = options_.schedule.fraction(epoch);
  set_steps(exec, steps_, options_.object_step * fraction, options_.probe_step * fraction);
  epoch_end_.start(exec);
}

void Lsqml::run_batch(const Device& exec, Sweep& sweep, const Batch& batch, int epoch) {
  const device::Region region("batch");
  find_directions(exec, sweep, batch, epoch >= options_.probe_start_epoch);
  if (fused_products_) {
    find_fused_products(exec, batch);
  } else {
    find_object_changes(exec, batch);
    find_products(exec, batch);
  }
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
  find_greatest_power(exec, unknowns_.probe, greatest_power_);
  batch_sums_.clear_shared(exec);
  batch_sums_.add_up(exec, sweep, batch, [&](const Chunk& chunk) {
    if (fused_products_)
      return gradient_.add_and_keep(exec, unknowns_.object, chunk, sums, moves_probe,
                                    waves_of_chunk(chi_, chunk, first_of(batch)));
    gradient_.find_changes(exec, unknowns_.object, chunk);
    keep_waves(exec, model_.waves(), chunk, first_of(batch), model_.unitary_scale(), chi_);
    model_.add_gradients(exec, unknowns_.object, chunk, sums, moves_probe);
  });
  weigh_object_sum(exec, sums, greatest_power_, options_.object_alpha, batch.touched, tile_);
  sweep.fill(exec, halo::tile_field(sums.object));
  model_.finish_probe_gradient(exec, sums.probe);
  find_greatest(exec, sums.overlap, greatest_overlap_);
  weigh_probe_sum(exec, sums, greatest_overlap_, options_.probe_alpha);
}

/// changes_ = u. A thin sample's exit waves are linear in the object.
void Lsqml::find_object_changes(const Device& exec, const Batch& batch) {
  const auto direction = batch_sums_.sums().object;
  const int first = first_of(batch);
  if (model_.options().n_slices == 1) {
    for_each_chunk(batch, [&](const Chunk& chunk) {
      model_.exit_waves(exec, direction, chunk);
      keep_waves(exec, model_.waves(), chunk, first, 1, changes_);
    });
    return;
  }
  add_direction(exec, unknowns_.object, direction, moved_, batch.touched, tile_);
  for_each_chunk(batch, [&](const Chunk& chunk) {
    model_.exit_waves(exec, unknowns_.object, chunk);
    keep_waves(exec, model_.waves(), chunk, first, -1, changes_);
    model_.exit_waves(exec, moved_, chunk);
    add_waves(exec, model_.waves(), chunk, first, changes_);
  });
}

void Lsqml::find_products(const Device& exec, const Batch& batch) {
  model_.set_probe(exec, batch_sums_.sums().probe);
  for_each_chunk(batch, [&](const Chunk& chunk) {
    model_.exit_waves(exec, unknowns_.object, chunk);
    multiply_waves(exec, chi_, changes_, model_.waves(), chunk, first_of(batch), products_);
  });
}

void Lsqml::find_fused_products(const Device& exec, const Batch& batch) {
  const physics::GradientSums& direction = batch_sums_.sums();
  fused_products_->set_probe_direction(exec, direction.probe);
  const int first = first_of(batch);
  for_each_chunk(batch, [&](const Chunk& chunk) {
    fused_products_->find(exec, unknowns_.object, direction.object, chunk,
                          waves_of_chunk(chi_, chunk, first),
                          products_of_chunk(products_, chunk, first));
  });
}

void Lsqml::find_lengths(const Device& exec, Sweep& sweep, const Batch& batch) {
  sum_lengths(exec, products_, count_of(batch), damping, scratch_, length_sums_);
  sweep.all_reduce(exec, length_sums_);
  set_lengths(exec, length_sums_, steps_, lengths_);
}

void Lsqml::finish_epoch(const Device& exec, Sweep& sweep, int epoch) {
  sweep.fill(exec,
             halo::tile_field(unknowns_.object));  // what ranks round differently does not add up
  epoch_end_.finish(exec, sweep, epoch);
}

void Lsqml::take_sums(const Device& exec, const device::DeviceView<double*>& taken) {
  gradient_.amplitude().take_sums(exec, taken);
}

}  // namespace tessera::solvers

#include "solvers/lsqml.hpp"

#include "decomposition/even_sample.hpp"
#include "lsqml_kernels.hpp"
#include "solvers/methods.hpp"

namespace tessera::solvers {

using device::Device;
using physics::Chunk;

/// Positions of this rank in a batch, at most.
static int max_in_batch(const settings::Solver& settings, const physics::ForwardModel& model) {
  return settings.max_in_batch(static_cast<int>(model.scan().order.extent(0)));
}

Lsqml::Lsqml(const settings::Solver& settings, Unknowns& unknowns, physics::ForwardModel& model,
             const OwnedTile& tile)
    : BatchMethod(settings, unknowns, model, tile, max_in_batch(settings, model)),
      length_sums_("tessera::solvers::length_sums", n_length_sums),
      scratch_("tessera::solvers::length_scratch", n_length_sums),
      lengths_("tessera::solvers::lengths") {
  if (model.options().n_slices > 1)
    moved_ = physics::ObjectView("tessera::solvers::moved", unknowns.object.layout());
}

std::int64_t Lsqml::bytes(const settings::Solver& settings, const physics::Sizes& sizes) {
  return BatchMethod::bytes(settings, sizes) +
         physics::ProductsPass::bytes(sizes, settings.max_in_batch(sizes.n_positions)) +
         (sizes.model.n_slices > 1 ? sizes.object_bytes() : 0);
}

/// Besides the gradient, of a sample, the exit waves of two objects and of the probe's direction.
double Lsqml::transforms(int n_slices, double shift) {
  return BatchMethod::transforms(n_slices, shift) +
         (6 * (n_slices - 1) + shift) / decomposition::thinnest_sample;
}

void Lsqml::run_batch(const Device& exec, Sweep& sweep, const Batch& batch, int epoch) {
  const device::Region region("batch");
  find_directions(exec, sweep, batch, moves_probe(epoch));
  find_lengths(exec, sweep, batch);
  const physics::GradientSums& sums = batch_sums_.sums();
  // Ghosts hold the direction as owners do: they move alike, and nothing has to travel.
  move_object(exec, unknowns_.object, sums, lengths_, batch.touched, tile_);
  move_probe(exec, unknowns_.probe, sums.probe, lengths_);
}

/// Afterwards batch_sums_ holds the directions, ghosts' too; outside the touched blocks zero.
void Lsqml::find_directions(const Device& exec, Sweep& sweep, const Batch& batch, bool with_probe) {
  const physics::GradientSums& sums = batch_sums_.sums();
  device::Beside& probe_side = beside(sweep);
  start_batch(exec, maxima_);
  batch_sums_.add_up(
      exec, sweep, batch,
      [&](const Chunk& chunk) {
        pass_.add(exec, unknowns_.object, chunk, batch.first_place(), sums, with_probe);
      },
      &probe_side);
  const Device of_probe = probe_side.forked(exec);
  finish_probe_sums(of_probe, maxima_);
  weigh_probe_sum(of_probe, sums, maxima_.overlap, own_.alphas.probe);
  weigh_object_sum(exec, sums, maxima_.power, own_.alphas.object, batch.touched, tile_);
  sweep.fill(exec, batch, halo::tile_field(sums.object));
  probe_side.join(exec);
}

void Lsqml::find_lengths(const Device& exec, Sweep& sweep, const Batch& batch) {
  const physics::GradientSums& direction = batch_sums_.sums();
  if (moved_.size() > 0)
    add_direction(exec, unknowns_.object, direction.object, moved_, batch.touched, tile_);
  const physics::Products& products =
      pass_.find(exec, unknowns_.object, {direction.object, direction.probe, moved_}, batch.sample,
                 batch.first_place());
  const Sample sample{sweep.sampled(), model_.scan().order, batch.first_place()};
  sum_lengths(exec, products, batch.n_positions(), sample, damping, scratch_, length_sums_);
  sweep.all_reduce(exec, length_sums_);
  set_lengths(exec, length_sums_, steps_, lengths_);
}

void Lsqml::finish_epoch(const Device& exec, Sweep& sweep, int epoch) {
  sweep.fill(exec,
             halo::tile_field(unknowns_.object));  // what ranks round differently does not add up
  BatchMethod::finish_epoch(exec, sweep, epoch);
}

template <>
Method method_of<settings::Lsqml>() {
  // The next batch makes good what this one's lengths miss.
  return method<Lsqml>({.fewest = 32});
}

}  // namespace tessera::solvers

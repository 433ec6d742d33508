#include "tessera/solvers/pie.hpp"

namespace tessera::solvers {

using device::complex;
using device::Device;
using device::DeviceView;
using physics::Chunk;

Pie::Pie(const PieOptions& options, Unknowns& unknowns, physics::ForwardModel& model,
         const Box& ghosted, const Box& owned)
    : options_(options),
      unknowns_(unknowns),
      model_(model),
      gradient_(model),
      tile_(ghosted, owned),
      batch_sums_(unknowns),
      steps_("tessera::solvers::steps"),
      greatest_power_("tessera::solvers::greatest_power"),
      greatest_overlap_("tessera::solvers::greatest_overlap"),
      epoch_end_(options.epoch_end, unknowns, model, tile_) {}

void Pie::start_epoch(const Device& exec, int epoch) {
  const double fraction = options_.schedule.fraction(epoch);
  set_steps(exec, steps_, options_.object_step * fraction, options_.probe_step * fraction);
  epoch_end_.start(exec);
  // Batches keep what follows up to date; whatever else changes the probe does not.
  if (!model_.updates_probe()) return;
  model_.set_probe(exec, unknowns_.probe);
  find_greatest_power(exec, unknowns_.probe, greatest_power_);
}

void Pie::run_batch(const Device& exec, Sweep& sweep, const Batch& batch, int epoch) {
  const device::Region region("batch");
  const bool moves_probe = epoch >= options_.probe_start_epoch;
  if (model_.updates_probe()) {
    model_.forget_slots();
  } else {
    model_.set_probe(exec, unknowns_.probe);
    find_greatest_power(exec, unknowns_.probe, greatest_power_);
    batch_sums_.clear_shared(exec);
  }
  batch_sums_.add_up(exec, sweep, batch, [&](const Chunk& chunk) {
    gradient_.add(exec, unknowns_.object, chunk, batch_sums_.sums(), moves_probe);
  });
  update_object(exec, batch.touched);
  if (moves_probe) update_probe(exec);
  sweep.fill(exec, halo::tile_field(unknowns_.object));
}

void Pie::update_object(const Device& exec, const TouchedBlocks& touched) {
  const device::Region region("update object");
  const auto object = unknowns_.object;
  const auto sum = batch_sums_.sums().object;
  const auto illumination = batch_sums_.sums().illumination;
  const auto greatest_power = greatest_power_;
  const auto steps = steps_;
  const auto tile = tile_;
  const auto alpha = static_cast<Real>(options_.object_alpha);
  for_each_touched_pixel(
      exec, "tessera::solvers::update_object", static_cast<int>(object.extent(0)), touched, tile_,
      KOKKOS_LAMBDA(const int plane, const int y, const int x) {
        if (tile.owns(y, x)) {
          const Real weight = update_weight(illumination(plane, y, x), greatest_power(), alpha);
          object(plane, y, x) += sum(plane, y, x) * (steps(0) / weight);
        }
        sum(plane, y, x) = complex(0);
        illumination(plane, y, x) = 0;
      });
}

void Pie::update_probe(const Device& exec) {
  const device::Region region("update probe");
  const physics::GradientSums& sums = batch_sums_.sums();
  const auto alpha = static_cast<Real>(options_.probe_alpha);
  if (model_.updates_probe())
    return model_.update_probe(exec, {sums.probe, sums.overlap, steps_.data() + 1, alpha,
                                      greatest_overlap_, greatest_power_});
  model_.finish_probe_gradient(exec, sums.probe);
  find_greatest(exec, sums.overlap, greatest_overlap_);
  const auto overlap = sums.overlap;
  const auto greatest_overlap = greatest_overlap_;
  const auto probe = unknowns_.probe;
  const auto probe_sum = sums.probe;
  const auto steps = steps_;
  device::for_each_pixel(
      exec, "tessera::solvers::update_probe", static_cast<int>(probe.extent(0)),
      model_.scan().window, KOKKOS_LAMBDA(const int m, const int y, const int x) {
        const Real weight = update_weight(overlap(y, x), greatest_overlap(), alpha);
        if (weight > 0) probe(m, y, x) += probe_sum(m, y, x) * (steps(1) / weight);
      });
}

void Pie::finish_epoch(const Device& exec, Sweep& sweep, int epoch) {
  epoch_end_.finish(exec, sweep, epoch);
}

void Pie::take_sums(const Device& exec, const DeviceView<double*>& taken) {
  gradient_.amplitude().take_sums(exec, taken);
}

}  // namespace tessera::solvers

#include "tessera/solvers/projection_solver.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tessera/device/sums.hpp"

#include "projection_kernels.hpp"

namespace tessera::solvers {

using device::Device;
using physics::Chunk;

namespace {

/// projection_solver.hpp, multiplied out.
physics::LinearMap linear_map(const ProjectionOptions& options) {
  if (options.map == ProjectionMap::difference_map)
    return {.of_overlap = 2,
            .of_kept = -1,
            .from_overlap = true,
            .of_residual = 1,
            .keeps_new = 1,
            .keeps_base = 0};
  const auto beta = static_cast<Real>(options.raar_beta);
  return {.of_overlap = beta,
          .of_kept = 1,
          .from_overlap = false,
          .of_residual = 2,
          .keeps_new = Real(0.5) - beta,
          .keeps_base = Real(0.5)};
}

/// Room for what `model` computes of each of the rank's positions.
physics::WavesView waves_of_positions(const physics::ForwardModel& model) {
  const physics::WavesView& of_chunk = model.waves();
  return physics::WavesView("tessera::solvers::stored_waves", model.scan().corner.extent(0),
                            of_chunk.extent(1), of_chunk.extent(2), of_chunk.extent(3));
}

}  // namespace

ProjectionSolver::ProjectionSolver(const ProjectionOptions& options, Unknowns& unknowns,
                                   physics::ForwardModel& model, const Box& ghosted,
                                   const Box& owned)
    : options_(options),
      map_(linear_map(options)),
      unknowns_(unknowns),
      model_(model),
      tile_(ghosted, owned),
      batch_sums_(unknowns),
      overlapping_(waves_of_positions(model)),
      kept_(options.map == ProjectionMap::raar ? waves_of_positions(model) : overlapping_),
      residual_share_("tessera::solvers::residual_share", model.waves().extent(0)),
      sums_("tessera::solvers::projection_sums", 2),
      scratch_("tessera::solvers::projection_scratch", 2),
      host_sums_("tessera::solvers::host_projection_sums", 2),
      orthogonaliser_(model.n_modes(), model.scan().window) {
  Kokkos::deep_copy(residual_share_, Real(1));
  if (model.fused()) fused_ = std::make_unique<physics::FusedProjection>(model);
}

void ProjectionSolver::start_epoch(const Device& exec, int) {
  model_.set_probe(exec, unknowns_.probe);
}

template <class F>
void ProjectionSolver::visit(const Device& exec, const char* name, const Chunk& chunk, const F& f) {
  const auto n_images = static_cast<int>(model_.waves().extent(1));
  const Shape2 window = model_.scan().window;
  device::for_each_row_pixel(exec, name, chunk.count * n_images, {window.h, 2 * window.w},
                             WithStored<F>{model_.waves(), overlapping_, kept_, residual_share_,
                                           model_.scan().order, chunk.begin, n_images, f});
}

void ProjectionSolver::start_waves(const Device& exec, const Batch& batch) {
  const auto start = [&](const Chunk& chunk) {
    if (fused_) {
      fused_->overlap_waves(exec, unknowns_.object, chunk);
    } else {
      model_.exit_waves(exec, unknowns_.object, chunk);
    }
    visit(exec, "tessera::solvers::start_kept", chunk, StartKept{map_});
  };
  std::for_each(batch.border.begin(), batch.border.end(), start);
  std::for_each(batch.interior.begin(), batch.interior.end(), start);
  const std::vector<double> powers = physics::mode_powers(exec, unknowns_.probe);
  mean_counts_ = std::accumulate(powers.begin(), powers.end(), 0.0);
  has_started_ = true;
}

void ProjectionSolver::step(const Device& exec, const Chunk& chunk) {
  const double r = options_.fourier_relaxation;
  const double bound = r * r / 4 * mean_counts_;
  if (fused_)
    return fused_->step(exec, unknowns_.object, chunk, map_, bound, overlapping_, kept_, running_);
  model_.forward(exec, unknowns_.object, chunk);
  running_.measure(exec, model_, chunk);
  model_.exit_waves(exec, unknowns_.object, chunk);
  const Real scale = model_.unitary_scale();
  visit(exec, "tessera::solvers::reach_modulus", chunk, ReachModulus{map_, scale});
  model_.to_detector(exec, chunk);
  constraint_.replace_by_residual(exec, model_, chunk);
  if (bound > 0) bound_distance(exec, model_.waves(), chunk.count, bound, residual_share_);
  model_.backward(exec, chunk);
  visit(exec, "tessera::solvers::leave_modulus", chunk, LeaveModulus{map_, scale});
}

void ProjectionSolver::recall(const Device& exec, const Chunk& chunk, bool for_object) {
  if (fused_) return;
  if (for_object) {
    model_.illumination().shift_probes(exec, chunk);
  } else {
    model_.illumination().forgo_probes(exec, chunk);
  }
  visit(exec, "tessera::solvers::recall", chunk, Recall{});
}

void ProjectionSolver::add_gradients(const Device& exec, const Chunk& chunk,
                                     const physics::GradientSums& sums, bool with_probe) {
  if (fused_) {
    fused_->add_gradients(exec, unknowns_.object, chunk, overlapping_, sums, with_probe);
  } else {
    model_.add_gradients(exec, unknowns_.object, chunk, sums, with_probe, 1);
  }
}

void ProjectionSolver::run_batch(const Device& exec, Sweep& sweep, const Batch& batch, int epoch) {
  const device::Region region("batch");
  if (!has_started_) start_waves(exec, batch);
  const physics::GradientSums& sums = batch_sums_.sums();
  batch_sums_.add_up_object(exec, sweep, batch, [&](const Chunk& chunk) {
    step(exec, chunk);
    add_gradients(exec, chunk, sums, false);
  });
  update_object(exec, sweep, batch.touched);
  if (epoch < options_.probe_start_epoch) return;
  for (int round = 1;; ++round) {
    batch_sums_.clear_shared(exec);
    batch_sums_.add_up_probe(exec, sweep, batch, [&](const Chunk& chunk) {
      recall(exec, chunk, false);
      add_gradients(exec, chunk, sums.of_probe(), true);
    });
    const double change = update_probe(exec, sweep);
    if (round == options_.overlap_rounds || change < options_.overlap_tolerance) return;
    batch_sums_.add_up_object(exec, sweep, batch, [&](const Chunk& chunk) {
      recall(exec, chunk, true);
      add_gradients(exec, chunk, sums, false);
    });
    update_object(exec, sweep, batch.touched);
  }
}

void ProjectionSolver::update_object(const Device& exec, Sweep& sweep,
                                     const TouchedBlocks& touched) {
  const device::Region region("update object");
  const auto object = unknowns_.object;
  const auto sum = batch_sums_.sums().object;
  const auto illumination = batch_sums_.sums().illumination;
  const auto tile = tile_;
  const auto inertia = static_cast<Real>(options_.object_inertia * mean_counts_ /
                                         static_cast<double>(model_.scan().window.size()));
  for_each_touched_pixel(
      exec, "tessera::solvers::divide_object", static_cast<int>(object.extent(0)), touched, tile_,
      KOKKOS_LAMBDA(const int plane, const int y, const int x) {
        const Real weight = illumination(plane, y, x) + inertia;
        if (tile.owns(y, x) && weight > 0)
          object(plane, y, x) = (sum(plane, y, x) + object(plane, y, x) * inertia) / weight;
        sum(plane, y, x) = complex(0);
        illumination(plane, y, x) = 0;
      });
  sweep.fill(exec, halo::tile_field(object));
}

double ProjectionSolver::update_probe(const Device& exec, Sweep& sweep) {
  const device::Region region("update probe");
  const physics::GradientSums& sums = batch_sums_.sums();
  model_.finish_probe_gradient(exec, sums.probe);
  device::set_zero(exec, sums_);
  device::add_pixel_sums<2>(exec, "tessera::solvers::divide_probe",
                            static_cast<int>(unknowns_.probe.extent(0)), model_.scan().window,
                            DivideProbe{unknowns_.probe, sums.probe, sums.overlap}, scratch_,
                            sums_);
  model_.set_probe(exec, unknowns_.probe);
  // Every rank has them, to rounding: their sums are the same to the last bit, and so is the
  // decision.
  sweep.all_reduce(exec, sums_);
  Kokkos::deep_copy(exec, host_sums_, sums_);
  exec.fence();
  return std::sqrt(host_sums_(0) / host_sums_(1));
}

void ProjectionSolver::finish_epoch(const Device& exec, Sweep& sweep, int epoch) {
  // Only where the map ends: other modes than those of the exit waves are a new start.
  if (unknowns_.probe.extent(0) > 1 && epoch + 1 == options_.orthogonalise_after) {
    orthogonaliser_.orthogonalise(exec, unknowns_.probe);
    has_started_ = false;
  }
  sweep.replicate(exec, as_reals(unknowns_.probe));
}

void ProjectionSolver::take_sums(const Device& exec, const DeviceView<double*>& taken) {
  running_.take_sums(exec, taken);
}

}  // namespace tessera::solvers

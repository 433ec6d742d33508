#include "solvers/projection_solver.hpp"

#include <algorithm>
#include <numeric>

#include "decomposition/even_sample.hpp"
#include "physics/inner_product.hpp"
#include "solvers/methods.hpp"

namespace tessera::solvers {

using device::complex;
using device::Device;
using device::DeviceView;
using physics::Chunk;

namespace {

/// RAAR's in `epoch` (from 0) of `n_epochs`: it stays for half of the time until projections
/// alternate, and falls to 1/2, where they would, in the other half.
double beta_of(const settings::Projection& options, int epoch, int n_epochs) {
  if (options.settle_fraction == 0) return options.raar_beta;
  const double part = epoch / std::max(1.0, (1 - options.settle_fraction) * n_epochs);
  return options.raar_beta + (0.5 - options.raar_beta) * std::clamp(2 * part - 1, 0.0, 1.0);
}

/// projection_solver.hpp, multiplied out: what `epoch` does, and what it keeps for the next.
physics::LinearMap linear_map(const settings::Projection& options, int epoch, int n_epochs) {
  if (options.settles(epoch, n_epochs))
    return {.of_overlap = 1,
            .of_kept = 0,
            .from_overlap = true,
            .of_residual = 1,
            .keeps_new = 1,
            .keeps_base = 0};
  if (options.map == settings::ProjectionMap::difference_map)
    return {.of_overlap = 2,
            .of_kept = -1,
            .from_overlap = true,
            .of_residual = 1,
            .keeps_new = 1,
            .keeps_base = 0};
  const double next_beta = beta_of(options, epoch + 1, n_epochs);
  return {.of_overlap = static_cast<Real>(beta_of(options, epoch, n_epochs)),
          .of_kept = 1,
          .from_overlap = false,
          .of_residual = 2,
          .keeps_new = static_cast<Real>(0.5 - next_beta),
          .keeps_base = Real(0.5)};
}

/// What waves it keeps, in every epoch but those that settle.
physics::LinearMap first_map(const settings::Solver& settings) {
  settings::Projection options = std::get<settings::Projection>(settings.own);
  options.settle_fraction = 0;
  return linear_map(options, 0, settings.epochs);
}

/// probe += sum / max overlap.
struct DivideProbe {
  physics::ProbeView probe;
  physics::ProbeView probe_sum;
  DeviceView<Real> max_overlap;

  struct Row {
    complex* probe;
    const complex* probe_sum;
    Real max_overlap;
    KOKKOS_FUNCTION void operator()(const int x) const {
      if (max_overlap > 0) probe[x] += probe_sum[x] / max_overlap;
    }
  };
  KOKKOS_FUNCTION Row row(const int m, const int y) const {
    return {&probe(m, y, 0), &probe_sum(m, y, 0), max_overlap()};
  }
};

/// object += (sum - object dose) / weight. The sums become zero.
struct DivideObject : ObjectAndSums {
  DeviceView<Real> max_power;
  OwnedTile tile;
  Real least;  ///< weight, of max_power

  KOKKOS_FUNCTION void write(int plane, int y, int x, const Pixel& was) const {
    const Real lit = was.dose;
    const Real weight = lit > least * max_power() ? lit : least * max_power();
    if (tile.owns(y, x) && weight > 0)
      object(plane, y, x) = was.object + (was.sum - was.object * lit) / weight;
    clear_sums(plane, y, x);
  }
};

/// Refinement takes whole pixels of a position's motion to its window: waves would come to lie
/// elsewhere. The part within the window takes them back.
/// @param kept the waves' windows
void put_windows_back(const Device& exec, const DeviceView<int* [2]>& kept,
                      const physics::ForwardModel& model) {
  const auto corner = model.scan().corner;
  const auto shift = model.parameters().shift;
  Kokkos::parallel_for(
      device::kernel_name("tessera::solvers::put_windows_back"),
      Kokkos::RangePolicy<Device>(exec, 0, static_cast<int>(kept.extent(0))),
      KOKKOS_LAMBDA(const int place) {
        for (int axis = 0; axis < 2; ++axis) {
          shift(place, axis) += static_cast<Real>(corner(place, axis) - kept(place, axis));
          corner(place, axis) = kept(place, axis);
        }
      });
}

}  // namespace

ProjectionSolver::ProjectionSolver(const settings::Solver& settings, Unknowns& unknowns,
                                   physics::ForwardModel& model, const OwnedTile& tile)
    : settings_(settings),
      own_(std::get<settings::Projection>(settings.own)),
      unknowns_(unknowns),
      model_(model),
      tile_(tile),
      batch_sums_(unknowns),
      pass_(model, first_map(settings)),
      slope_pass_(model),
      window_corner_("tessera::solvers::window_corner",
                     model.options().own_probes ? model.scan().corner.extent(0) : 0),
      sums_("tessera::solvers::projection_sums", 2),
      host_sums_("tessera::solvers::host_projection_sums", 2),
      orthogonaliser_(model.n_modes(), model.scan().window) {}

std::int64_t ProjectionSolver::bytes(const settings::Solver& settings,
                                     const physics::Sizes& sizes) {
  return BatchSums::bytes(sizes) + physics::ProjectionPass::bytes(sizes, first_map(settings)) +
         physics::ModeOrthogonaliser::bytes(sizes) +
         (sizes.model.own_probes ? physics::bytes_of<int>(2 * sizes.n_positions) : 0);
}

/// Of P_O psi there, and of what it projects next back; the probe there, and of a sample its sum
/// back.
double ProjectionSolver::transforms(int, double shift) {
  return 2 + shift + shift / decomposition::thinnest_sample;
}

void ProjectionSolver::start_epoch(const Device& exec, int epoch) {
  model_.set_probe(exec, unknowns_.probe);
  settles_ = own_.settles(epoch, settings_.epochs);
  pass_.set_map(linear_map(own_, epoch, settings_.epochs));
}

/// Those of object and probe as they are. Waits for the device.
void ProjectionSolver::start_waves(const Device& exec, const Batch& batch) {
  for (const Chunk& chunk : batch.chunks()) pass_.start(exec, unknowns_.object, chunk);
  if (window_corner_.size() > 0) Kokkos::deep_copy(exec, window_corner_, model_.scan().corner);
  const std::vector<double> powers = physics::mode_powers(exec, unknowns_.probe);
  mean_counts_ = std::accumulate(powers.begin(), powers.end(), 0.0);
}

/// Squared distance to the measured amplitudes that a pattern may keep.
double ProjectionSolver::distance_bound() const {
  const double r = own_.fourier_relaxation;
  return std::max(r * r / 4 * mean_counts_, settles_ ? 0 : kept_distance * mean_distance_);
}

/// Over all ranks, of this epoch's P_O. Waits for the device.
double ProjectionSolver::mean_distance(const Device& exec, Sweep& sweep, const Batch& batch) {
  const auto number = [&](const DeviceView<double*>& of, int at) {
    return DeviceView<double*>(of.data() + at, 1);
  };
  Kokkos::deep_copy(exec, number(sums_, 0),
                    number(pass_.figures().sums(), physics::FigureSums::cost));
  Kokkos::deep_copy(exec, number(sums_, 1), static_cast<double>(batch.n_positions()));
  sweep.all_reduce(exec, sums_);
  Kokkos::deep_copy(exec, host_sums_, sums_);
  exec.fence();
  return host_sums_(0) / host_sums_(1);
}

void ProjectionSolver::run_batch(const Device& exec, Sweep& sweep, const Batch& batch, int epoch) {
  const device::Region region("batch");
  if (mean_counts_ == 0) start_waves(exec, batch);
  put_windows_back(exec, window_corner_, model_);
  const physics::FittedParameters fitted = model_.fitted();
  model_.fit({});  // waves on their way say nothing of positions
  project(exec, sweep, batch, epoch);
  // RAAR's own relaxation keeps it from wandering.
  if (own_.map == settings::ProjectionMap::difference_map)
    mean_distance_ = mean_distance(exec, sweep, batch);
  model_.fit(fitted);
  if (fitted.any()) add_slopes(exec, sweep, batch);
}

void ProjectionSolver::project(const Device& exec, Sweep& sweep, const Batch& batch, int epoch) {
  const physics::GradientSums& sums = batch_sums_.sums();
  const bool moves_probe = epoch >= settings_.probe_start_epoch;
  batch_sums_.add_up_object(exec, sweep, batch, [&](const Chunk& chunk) {
    const bool explained = moves_probe && (settles_ || chunk.sampled);
    pass_.step(exec, unknowns_.object, chunk, distance_bound(), explained, sums);
  });
  update_object(exec, sweep, batch.touched);
  if (!moves_probe) return;
  batch_sums_.clear_shared(exec);
  batch_sums_.add_up_probe(
      exec, sweep, settles_ ? batch.chunks() : batch.sample,
      [&](const Chunk& chunk) { pass_.add_to_probe(exec, unknowns_.object, chunk, sums); });
  update_probe(exec);
}

/// The sums of the object that come with them are of no use.
void ProjectionSolver::add_slopes(const Device& exec, Sweep& sweep, const Batch& batch) {
  const physics::GradientSums& sums = batch_sums_.sums();
  model_.set_probe(exec, unknowns_.probe);
  model_.scan().patterns->begin_pass(exec, sweep.pass());
  for (const Chunk& chunk : batch.chunks())
    slope_pass_.add(exec, unknowns_.object, chunk, sums, false);
  device::set_zero(exec, sums.object);
  device::set_zero(exec, sums.dose);
}

void ProjectionSolver::update_object(const Device& exec, Sweep& sweep, const BlockList& touched) {
  const device::Region region("update object");
  physics::find_max_power(exec, unknowns_.probe, maxima_.power);
  update_touched_pixels(exec, "tessera::solvers::divide_object",
                        static_cast<int>(unknowns_.object.extent(0)), touched, tile_,
                        DivideObject{{unknowns_.object, batch_sums_.sums()},
                                     maxima_.power,
                                     tile_,
                                     static_cast<Real>(own_.least_power)});
  sweep.fill(exec, halo::tile_field(unknowns_.object));
}

/// Every rank makes the same update from complete sums.
void ProjectionSolver::update_probe(const Device& exec) {
  const device::Region region("update probe");
  const physics::GradientSums& sums = batch_sums_.sums();
  model_.finish_probe_gradient(exec, sums.probe);
  physics::find_max(exec, sums.overlap, maxima_.overlap);
  device::for_each_row_pixel(exec, "tessera::solvers::divide_probe",
                             static_cast<int>(unknowns_.probe.extent(0)), model_.scan().window,
                             DivideProbe{unknowns_.probe, sums.probe, maxima_.overlap});
}

void ProjectionSolver::finish_epoch(const Device& exec, Sweep& sweep, int epoch) {
  // Only where the map ends: other modes than those of the exit waves are a new start.
  if (unknowns_.probe.extent(0) > 1 && settings_.orthogonalise_every > 0 &&
      epoch + 1 == settings_.epochs) {
    orthogonaliser_.orthogonalise(exec, unknowns_.probe);
    mean_counts_ = 0;
  }
  sweep.replicate(exec, as_reals(unknowns_.probe));
}

void ProjectionSolver::take_sums(const Device& exec, const DeviceView<double*>& taken) {
  pass_.figures().take(exec, taken);
}

Fields ProjectionSolver::memory() {
  Fields fields{field(pass_.kept_name(), Lives::position, pass_.kept())};
  fields.back().is_large = true;
  fields.push_back(host_field("mean_counts", mean_counts_));
  fields.push_back(host_field("mean_distance", mean_distance_));
  if (window_corner_.size() > 0) {
    fields.push_back(field("window_corner_px", Lives::position, window_corner_,
                           model_.options().n_sub_positions));
    fields.back().origin = tile_.begin;
  }
  return fields;
}

template <>
Method method_of<settings::Projection>() {
  return method<ProjectionSolver>({.fewest = 256, .alone = true});
}

}  // namespace tessera::solvers

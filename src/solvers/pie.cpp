#include "tessera/solvers/pie.hpp"

#include <array>
#include <cmath>

namespace tessera::solvers {

using device::complex;
using device::Device;
using device::DeviceView;
using physics::Chunk;

namespace {

/// The shared sums as Reals: what is complex takes two each.
std::size_t n_probe_reals(const physics::ProbeView& probe) {
  return 2 * probe.size();
}

}  // namespace

Pie::Pie(const PieOptions& options, Unknowns& unknowns, physics::ForwardModel& model,
         const Box& ghosted, const Box& owned)
    : options_(options),
      unknowns_(unknowns),
      model_(model),
      owned_in_tile_{{owned.begin.y - ghosted.begin.y, owned.begin.x - ghosted.begin.x},
                     {owned.end.y - ghosted.begin.y, owned.end.x - ghosted.begin.x}},
      object_sum_("tessera::solvers::object_sum", unknowns.object.extent(0), ghosted.height(),
                  ghosted.width()),
      illumination_("tessera::solvers::illumination", unknowns.object.extent(0), ghosted.height(),
                    ghosted.width()),
      shared_sums_(
          "tessera::solvers::shared_sums",
          n_probe_reals(unknowns.probe) + static_cast<std::size_t>(model.scan().window.size())),
      probe_sum_(reinterpret_cast<complex*>(shared_sums_.data()), unknowns.probe.extent(0),
                 unknowns.probe.extent(1), unknowns.probe.extent(2)),
      overlap_(shared_sums_.data() + n_probe_reals(unknowns.probe), unknowns.probe.extent(1),
               unknowns.probe.extent(2)),
      greatest_power_("tessera::solvers::greatest_power"),
      greatest_overlap_("tessera::solvers::greatest_overlap"),
      orthogonaliser_(static_cast<int>(unknowns.probe.extent(0)), model.scan().window) {}

void Pie::run_batch(const Device& exec, Sweep& sweep, const Batch& batch, int epoch) {
  const device::Region region("batch");
  device::set_zero(exec, object_sum_);
  device::set_zero(exec, illumination_);
  device::set_zero(exec, shared_sums_);
  model_.set_probe(exec, unknowns_.probe);
  const bool moves_probe = epoch >= options_.probe_start_epoch;

  const std::array sums{comm::tile_field(object_sum_), comm::tile_field(illumination_)};
  sweep.sum(exec, batch, sums, shared_sums_, [&](const Chunk& chunk) {
    model_.forward(exec, unknowns_.object, chunk);
    amplitude_.replace_by_residual(exec, model_, chunk);
    model_.backward(exec, chunk);
    model_.add_object_gradient(exec, chunk, object_sum_, illumination_);
    if (moves_probe) model_.add_probe_gradient(exec, unknowns_.object, chunk, probe_sum_, overlap_);
  });
  update_object(exec, shrunk(options_.object_step, epoch));
  if (moves_probe) update_probe(exec, shrunk(options_.probe_step, epoch));
  const std::array object{comm::tile_field(unknowns_.object)};
  sweep.fill(exec, object);
}

double Pie::shrunk(double step, int epoch) const {
  const int past = epoch - options_.full_step_epochs + 1;
  const int shrinking = options_.n_epochs - options_.full_step_epochs;
  if (past <= 0 || shrinking <= 0) return step;
  return step * std::pow(options_.final_step, static_cast<double>(past) / shrinking);
}

void Pie::update_object(const Device& exec, double step_length) {
  const device::Region region("update object");
  const auto probe = unknowns_.probe;
  const auto greatest_power = greatest_power_;
  const int n_modes = static_cast<int>(probe.extent(0));
  const int w = model_.scan().window.w;
  Kokkos::parallel_reduce(
      device::kernel_name("tessera::solvers::greatest_power"),
      Kokkos::RangePolicy<Device>(exec, 0, model_.scan().window.size()),
      KOKKOS_LAMBDA(const int pixel, Real& greatest) {
        Real power = 0;
        for (int m = 0; m < n_modes; ++m)
          power += physics::squared_magnitude(probe(m, pixel / w, pixel % w));
        if (power > greatest) greatest = power;
      },
      Kokkos::Max<Real, Device::memory_space>(greatest_power));

  const auto object = unknowns_.object;
  const auto object_sum = object_sum_;
  const auto illumination = illumination_;
  const Pixel first = owned_in_tile_.begin;
  const auto step = static_cast<Real>(step_length);
  const auto alpha = static_cast<Real>(options_.object_alpha);
  device::for_each_pixel(
      exec, "tessera::solvers::update_object", static_cast<int>(object.extent(0)),
      owned_in_tile_.shape(), KOKKOS_LAMBDA(const int slice, const int owned_y, const int owned_x) {
        const int y = first.y + owned_y;
        const int x = first.x + owned_x;
        const Real illuminated = illumination(slice, y, x);
        const Real regularised = (1 - alpha) * illuminated + alpha * greatest_power();
        const Real weight = illuminated > regularised ? illuminated : regularised;
        object(slice, y, x) += object_sum(slice, y, x) * (step / weight);
      });
}

void Pie::update_probe(const Device& exec, double step_length) {
  const device::Region region("update probe");
  model_.finish_probe_gradient(exec, probe_sum_);
  const auto overlap = overlap_;
  const auto greatest_overlap = greatest_overlap_;
  const int w = model_.scan().window.w;
  Kokkos::parallel_reduce(
      device::kernel_name("tessera::solvers::greatest_overlap"),
      Kokkos::RangePolicy<Device>(exec, 0, model_.scan().window.size()),
      KOKKOS_LAMBDA(const int pixel, Real& greatest) {
        const Real value = overlap(pixel / w, pixel % w);
        if (value > greatest) greatest = value;
      },
      Kokkos::Max<Real, Device::memory_space>(greatest_overlap));

  const auto probe = unknowns_.probe;
  const auto probe_sum = probe_sum_;
  const auto step = static_cast<Real>(step_length);
  const auto alpha = static_cast<Real>(options_.probe_alpha);
  device::for_each_pixel(
      exec, "tessera::solvers::update_probe", model_.n_modes(), model_.scan().window,
      KOKKOS_LAMBDA(const int m, const int y, const int x) {
        const Real weight = (1 - alpha) * overlap(y, x) + alpha * greatest_overlap();
        if (weight > 0) probe(m, y, x) += probe_sum(m, y, x) * (step / weight);
      });
}

void Pie::finish_epoch(const Device& exec, Sweep& sweep, int epoch) {
  const int every = options_.orthogonalise_every;
  if (model_.n_modes() > 1 && every > 0 && (epoch + 1) % every == 0)
    orthogonaliser_.orthogonalise(exec, unknowns_.probe);
  // Ranks may round differently (other processors, other transform plans): without this their
  // probes drift apart.
  sweep.replicate(exec, device::DeviceView<Real*>(reinterpret_cast<Real*>(unknowns_.probe.data()),
                                                  n_probe_reals(unknowns_.probe)));
}

physics::AmplitudeSums Pie::take_sums(const Device& exec) {
  return amplitude_.take_sums(exec);
}

}  // namespace tessera::solvers

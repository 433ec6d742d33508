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

physics::GradientSums gradient_sums(const Unknowns& unknowns,
                                    const DeviceView<Real*>& shared_sums) {
  const auto object = unknowns.object.layout();
  const auto& probe = unknowns.probe;
  return {physics::ObjectView("tessera::solvers::object_sum", object),
          DeviceView<Real***>("tessera::solvers::illumination", object),
          physics::ProbeView(reinterpret_cast<complex*>(shared_sums.data()), probe.extent(0),
                             probe.extent(1), probe.extent(2)),
          DeviceView<Real**>(shared_sums.data() + n_probe_reals(probe), probe.extent(1),
                             probe.extent(2))};
}

/// greatest_power = max_x sum_m |P_m|^2
void find_greatest_power(const Device& exec, const physics::ProbeView& probe,
                         const DeviceView<Real>& greatest_power) {
  const auto n_modes = static_cast<int>(probe.extent(0));
  const auto h = static_cast<int>(probe.extent(1));
  const auto w = static_cast<int>(probe.extent(2));
  Kokkos::parallel_reduce(
      device::kernel_name("tessera::solvers::greatest_power"),
      Kokkos::RangePolicy<Device>(exec, 0, h * w),
      KOKKOS_LAMBDA(const int pixel, Real& greatest) {
        Real power = 0;
        for (int m = 0; m < n_modes; ++m)
          power += physics::squared_magnitude(probe(m, pixel / w, pixel % w));
        if (power > greatest) greatest = power;
      },
      Kokkos::Max<Real, Device::memory_space>(greatest_power));
}

/// Owned pixels of the touched blocks take their update; all their sums become zero.
struct UpdateObject {
  TouchedBlocks touched;
  decomposition::BlockGrid blocks;
  Box owned;
  physics::ObjectView object;
  physics::ObjectView sum;
  DeviceView<Real***> illumination;
  DeviceView<Real> greatest_power;
  const Real* step;
  Real alpha;

  struct Row {
    complex* object;
    complex* sum;
    Real* illumination;
    int owned_begin;
    int owned_end;
    int end;  ///< of the tile
    Real regularisation;
    Real step;
    Real alpha;
    KOKKOS_FUNCTION void operator()(const int x) const {
      if (x >= end) return;
      if (x >= owned_begin && x < owned_end) {
        const Real illuminated = illumination[x];
        const Real regularised = (1 - alpha) * illuminated + regularisation;
        const Real weight = illuminated > regularised ? illuminated : regularised;
        object[x] += sum[x] * (step / weight);
      }
      sum[x] = complex(0);
      illumination[x] = 0;
    }
  };
  KOKKOS_FUNCTION Row row(const int i, const int row_in_block) const {
    const int slice = i / touched.count;
    const int block = touched.number[i - slice * touched.count];
    const int y = block / blocks.columns() * blocks.block.h + row_in_block;
    const int x = block % blocks.columns() * blocks.block.w;
    const bool owns = y >= owned.begin.y && y < owned.end.y;
    const std::int64_t at =
        (static_cast<std::int64_t>(slice) * blocks.tile.h + y) * blocks.tile.w + x;
    return {object.data() + at,
            sum.data() + at,
            illumination.data() + at,
            owns ? owned.begin.x - x : 0,
            owns ? owned.end.x - x : 0,
            y < blocks.tile.h ? blocks.tile.w - x : 0,
            alpha * greatest_power(),
            *step,
            alpha};
  }
};

}  // namespace

Pie::Pie(const PieOptions& options, Unknowns& unknowns, physics::ForwardModel& model,
         const Box& ghosted, const Box& owned)
    : options_(options),
      unknowns_(unknowns),
      model_(model),
      gradient_(model),
      owned_in_tile_{{owned.begin.y - ghosted.begin.y, owned.begin.x - ghosted.begin.x},
                     {owned.end.y - ghosted.begin.y, owned.end.x - ghosted.begin.x}},
      blocks_{ghosted.shape()},
      shared_sums_(
          "tessera::solvers::shared_sums",
          n_probe_reals(unknowns.probe) + static_cast<std::size_t>(model.scan().window.size())),
      sums_(gradient_sums(unknowns, shared_sums_)),
      steps_("tessera::solvers::steps"),
      greatest_power_("tessera::solvers::greatest_power"),
      greatest_overlap_("tessera::solvers::greatest_overlap"),
      orthogonaliser_(static_cast<int>(unknowns.probe.extent(0)), model.scan().window) {}

void Pie::start_epoch(const Device& exec, int epoch) {
  const auto steps = steps_;
  const auto object_step = static_cast<Real>(shrunk(options_.object_step, epoch));
  const auto probe_step = static_cast<Real>(shrunk(options_.probe_step, epoch));
  Kokkos::parallel_for(
      device::kernel_name("tessera::solvers::steps"), Kokkos::RangePolicy<Device>(exec, 0, 1),
      KOKKOS_LAMBDA(int) {
        steps(0) = object_step;
        steps(1) = probe_step;
      });
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
    device::set_zero(exec, shared_sums_);
  }

  const std::array object_sums{comm::tile_field(sums_.object),
                               comm::tile_field(sums_.illumination)};
  sweep.sum(exec, batch, object_sums, shared_sums_, [&](const Chunk& chunk) {
    gradient_.add(exec, unknowns_.object, chunk, sums_, moves_probe);
  });
  update_object(exec, batch.touched);
  if (moves_probe) update_probe(exec);
  const std::array object{comm::tile_field(unknowns_.object)};
  sweep.fill(exec, object);
}

double Pie::shrunk(double step, int epoch) const {
  const int past = epoch - options_.full_step_epochs + 1;
  const int shrinking = options_.n_epochs - options_.full_step_epochs;
  if (past <= 0 || shrinking <= 0) return step;
  return step * std::pow(options_.final_step, static_cast<double>(past) / shrinking);
}

void Pie::update_object(const Device& exec, const TouchedBlocks& touched) {
  const device::Region region("update object");
  const auto n_slices = static_cast<int>(unknowns_.object.extent(0));
  device::for_each_row_pixel(exec, "tessera::solvers::update_object", n_slices * touched.count,
                             decomposition::BlockGrid::block,
                             UpdateObject{touched, blocks_, owned_in_tile_, unknowns_.object,
                                          sums_.object, sums_.illumination, greatest_power_,
                                          steps_.data(), static_cast<Real>(options_.object_alpha)});
}

void Pie::update_probe(const Device& exec) {
  const device::Region region("update probe");
  const auto alpha = static_cast<Real>(options_.probe_alpha);
  if (model_.updates_probe())
    return model_.update_probe(exec, {sums_.probe, sums_.overlap, steps_.data() + 1, alpha,
                                      greatest_overlap_, greatest_power_});
  model_.finish_probe_gradient(exec, sums_.probe);
  const auto overlap = sums_.overlap;
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
  const auto probe_sum = sums_.probe;
  const auto steps = steps_;
  device::for_each_pixel(
      exec, "tessera::solvers::update_probe", model_.n_modes(), model_.scan().window,
      KOKKOS_LAMBDA(const int m, const int y, const int x) {
        const Real weight = (1 - alpha) * overlap(y, x) + alpha * greatest_overlap();
        if (weight > 0) probe(m, y, x) += probe_sum(m, y, x) * (steps(1) / weight);
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

void Pie::take_sums(const Device& exec, const DeviceView<double*>& taken) {
  gradient_.amplitude().take_sums(exec, taken);
}

}  // namespace tessera::solvers

#include "solvers/adam.hpp"

#include "physics/inner_product.hpp"
#include "solvers/methods.hpp"

namespace tessera::solvers {

using device::complex;
using device::Device;
using device::DeviceView;
using physics::Chunk;

namespace {

enum Unknown { the_object, the_probe };
enum Rate { beta1_power, beta2_power, scheduled };

/// What moves a value of one unknown.
struct Step {
  DeviceView<double[2][3]> rates;
  Unknown unknown;
  Real length;
  Real beta1;
  Real beta2;
  Real epsilon;

  Step(const settings::Adam& options, const DeviceView<double[2][3]>& all_rates, Unknown of)
      : rates(all_rates),
        unknown(of),
        length(static_cast<Real>(
            of == the_object ? options.object_step.value_or(settings::Adam::small_object_step)
                             : options.probe_step)),
        beta1(static_cast<Real>(options.beta1)),
        beta2(static_cast<Real>(options.beta2)),
        epsilon(static_cast<Real>(options.epsilon)) {}

  /// The change of a value whose negative gradient is g. Its moments move on.
  KOKKOS_FUNCTION complex operator()(const complex& g, complex& m, Real& v) const {
    m = beta1 * m + (1 - beta1) * g;
    v = beta2 * v + (1 - beta2) * physics::squared_magnitude(g);
    const auto m_unbiased = static_cast<Real>(1 - rates(unknown, beta1_power));
    const auto v_unbiased = static_cast<Real>(1 - rates(unknown, beta2_power));
    const Real step = length * static_cast<Real>(rates(unknown, scheduled)) / m_unbiased;
    return m * (step / (device::math::sqrt(v / v_unbiased) + epsilon));
  }
};

/// The sums become zero.
struct StepObject : ObjectAndSums {
  physics::ObjectView moment;
  DeviceView<Real***> square;
  DeviceView<Real> max_power;
  OwnedTile tile;
  Step step;

  struct Pixel : ObjectAndSums::Pixel {
    complex moment;
    Real square;
  };
  KOKKOS_FUNCTION Pixel read(int plane, int y, int x) const {
    return {ObjectAndSums::read(plane, y, x), moment(plane, y, x), square(plane, y, x)};
  }
  KOKKOS_FUNCTION void write(int plane, int y, int x, Pixel& was) const {
    // Blocks lie differently on other tiles: only what a window has reached may change.
    if (tile.owns(y, x) && was.dose > 0) {
      object(plane, y, x) = was.object + step(was.sum / max_power(), was.moment, was.square);
      moment(plane, y, x) = was.moment;
      square(plane, y, x) = was.square;
    }
    clear_sums(plane, y, x);
  }
};

/// One more batch for `unknown`.
void count_batch(const Device& exec, const settings::Adam& options,
                 const DeviceView<double[2][3]>& rates, Unknown unknown) {
  const double beta1 = options.beta1;
  const double beta2 = options.beta2;
  Kokkos::parallel_for(
      device::kernel_name("tessera::solvers::count_batch"), Kokkos::RangePolicy<Device>(exec, 0, 1),
      KOKKOS_LAMBDA(int) {
        rates(unknown, beta1_power) *= beta1;
        rates(unknown, beta2_power) *= beta2;
      });
}

}  // namespace

Adam::Adam(const settings::Solver& settings, Unknowns& unknowns, physics::ForwardModel& model,
           const OwnedTile& tile)
    : BatchMethod(settings, unknowns, model, tile),
      object_moment_("tessera::solvers::object_moment", unknowns.object.layout()),
      object_square_("tessera::solvers::object_square", unknowns.object.layout()),
      probe_moment_("tessera::solvers::probe_moment", unknowns.probe.layout()),
      probe_square_("tessera::solvers::probe_square", unknowns.probe.layout()),
      rates_("tessera::solvers::adam_rates") {
  Kokkos::deep_copy(rates_, 1.0);
}

std::int64_t Adam::bytes(const settings::Solver& settings, const physics::Sizes& sizes) {
  const std::int64_t moments = sizes.object_bytes() + sizes.probe_bytes();  // complex, then real
  return BatchMethod::bytes(settings, sizes) + moments + moments / 2;
}

void Adam::start_epoch(const Device& exec, int epoch) {
  const auto rates = rates_;
  const double fraction = own_.schedule.fraction(epoch, settings_.epochs);
  Kokkos::parallel_for(
      device::kernel_name("tessera::solvers::adam_rates"), Kokkos::RangePolicy<Device>(exec, 0, 1),
      KOKKOS_LAMBDA(int) {
        rates(the_object, scheduled) = fraction;
        rates(the_probe, scheduled) = fraction;
      });
}

void Adam::run_batch(const Device& exec, Sweep& sweep, const Batch& batch, int epoch) {
  const device::Region region("batch");
  device::Beside& probe_side = beside(sweep);
  start_batch(exec, maxima_);
  batch_sums_.add_up(
      exec, sweep, batch,
      [&](const Chunk& chunk) {
        pass_.add(exec, unknowns_.object, chunk, batch_sums_.sums(), moves_probe(epoch));
      },
      &probe_side);
  // Before the object moves: both are measured by the probe's power as it was.
  if (moves_probe(epoch)) update_probe(probe_side.forked(exec));
  update_object(exec, batch.touched);
  sweep.fill(exec, batch, halo::tile_field(unknowns_.object));
  probe_side.join(exec);
}

void Adam::update_object(const Device& exec, const BlockList& touched) {
  const device::Region region("update object");
  count_batch(exec, own_, rates_, the_object);
  update_touched_pixels(exec, "tessera::solvers::adam_object",
                        static_cast<int>(unknowns_.object.extent(0)), touched, tile_,
                        StepObject{{unknowns_.object, batch_sums_.sums()},
                                   object_moment_,
                                   object_square_,
                                   maxima_.power,
                                   tile_,
                                   Step(own_, rates_, the_object)});
}

void Adam::update_probe(const Device& exec) {
  const device::Region region("update probe");
  const physics::GradientSums& sums = batch_sums_.sums();
  finish_probe_sums(exec, maxima_);
  count_batch(exec, own_, rates_, the_probe);
  const Step step(own_, rates_, the_probe);
  const auto probe = unknowns_.probe;
  const auto sum = sums.probe;
  const auto moment = probe_moment_;
  const auto square = probe_square_;
  const auto max_power = maxima_.power;
  const auto max_overlap = maxima_.overlap;
  device::for_each_pixel(
      exec, "tessera::solvers::adam_probe", static_cast<int>(probe.extent(0)), model_.scan().window,
      KOKKOS_LAMBDA(const int m, const int y, const int x) {
        const Real unit = device::math::sqrt(max_power());
        const complex gradient = sum(m, y, x) / (unit * max_overlap());
        probe(m, y, x) += unit * step(gradient, moment(m, y, x), square(m, y, x));
      });
}

void Adam::finish_epoch(const Device& exec, Sweep& sweep, int epoch) {
  if (epoch_end_.finish(exec, sweep, epoch)) epoch_end_.modes().mix(exec, probe_moment_);
  sweep.replicate(exec, as_reals(probe_moment_));
}

Fields Adam::memory() {
  return {field("object_moment", Lives::object, object_moment_),
          field("object_square", Lives::object, object_square_),
          field("probe_moment", Lives::probe, probe_moment_),
          field("probe_square", Lives::probe, probe_square_),
          field("rates", Lives::everywhere, rates_)};
}

template <>
Method method_of<settings::Adam>() {
  return method<Adam>();
}

}  // namespace tessera::solvers

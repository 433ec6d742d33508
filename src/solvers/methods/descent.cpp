#include "solvers/descent.hpp"

#include <utility>

#include "tessera/physics/pattern_store.hpp"

#include "decomposition/even_sample.hpp"
#include "solvers/methods.hpp"

namespace tessera::solvers {

using device::Device;
using device::DeviceView;

namespace {

std::unique_ptr<Direction> make_rule(const Unknowns& unknowns, int n_history) {
  if (n_history == 0) return std::make_unique<ConjugateGradient>(unknowns);
  return std::make_unique<LimitedMemoryBfgs>(unknowns, n_history);
}

/// Objects and probes: direction and last gradient; of L-BFGS steps, changes of the gradient, and
/// what constraints moved.
int n_remembered(const settings::Solver& settings) {
  const int n_history = std::get<settings::Descent>(settings.own).lbfgs_history;
  return n_history == 0 ? 2 : 3 + 2 * n_history;
}

DeviceView<double*> as_numbers(const DeviceView<DescentState>& state) {
  static_assert(sizeof(DescentState) % sizeof(double) == 0);
  return DeviceView<double*>(reinterpret_cast<double*>(state.data()),
                             sizeof(DescentState) / sizeof(double));
}

/// One thread: is the present point better than all before, or to be taken for it?
struct Judge {
  DeviceView<double*> cost;
  DeviceView<DescentState> state;
  bool accepts;  ///< whatever the cost
  KOKKOS_FUNCTION void operator()(int) const {
    DescentState& s = state();
    if (s.started == 0) s.reach = 1;
    // Rounding looks like a rise; so does a direction that rounding has spoilt, for ever.
    constexpr double rounding = 1e-7;
    constexpr double max_rejections = 4;
    const double min = s.cost + rounding * (s.cost < 0 ? -s.cost : s.cost);
    const bool is_better =
        accepts || s.started == 0 || s.n_rejections >= max_rejections || cost(0) <= min;
    s.started = 1;
    s.accepted = is_better ? 1 : 0;
    s.rejected = 1 - s.accepted;
    s.completed = s.accepted * s.moved;
    s.n_rejections = s.rejected * (s.n_rejections + 1);
    if (is_better) s.cost = cost(0);
  }
};

}  // namespace

Descent::Descent(const settings::Solver& settings, Unknowns& unknowns, physics::ForwardModel& model,
                 const OwnedTile& tile)
    : BatchMethod(settings, unknowns, model, tile),
      slope_pass_(model),
      preconditioner_(own_.steps, own_.alphas, batch_sums_.sums(), maxima_),
      space_(tile, tile.has_first_pixel),
      line_search_(unknowns, model),
      rule_(make_rule(unknowns, own_.lbfgs_history)),
      direction_(make_like(unknowns)),
      state_("tessera::solvers::descent_state"),
      cost_("tessera::solvers::cost", 1) {}

std::int64_t Descent::bytes(const settings::Solver& settings, const physics::Sizes& sizes) {
  // The last gradient preconditioned, and what is remembered.
  return BatchMethod::bytes(settings, sizes) + LineSearch::bytes(sizes) +
         (1 + n_remembered(settings)) * (sizes.object_bytes() + sizes.probe_bytes());
}

double Descent::remembered(const settings::Solver& settings) {
  return n_remembered(settings);
}

/// The gradient, then of a sample the waves at three points of a line between two probes.
double Descent::transforms(int n_slices, double shift) {
  const double line = 3 * (1 + 2 * (n_slices - 1)) + 2 * shift;
  return BatchMethod::transforms(n_slices, shift) + line / decomposition::thinnest_sample;
}

void Descent::run_batch(const Device& exec, Sweep& sweep, const Batch& batch, int epoch) {
  const device::Region region("batch");
  const bool starts_over = epoch == settings_.probe_start_epoch;
  if (starts_over) rule_->start_over();
  find_gradient(exec, sweep, batch, epoch);
  const bool constrained = std::exchange(constrained_, 0) != 0;
  judge(exec, sweep, starts_over || constrained);
  const Unknowns gradient{batch_sums_.sums().object, batch_sums_.sums().probe};
  rule_->update(exec, sweep, {gradient, preconditioner_, space_, state_, unknowns_, constrained},
                direction_);
  take_step(exec, sweep, gradient);
}

void Descent::find_gradient(const Device& exec, Sweep& sweep, const Batch& batch, int epoch) {
  const physics::GradientSums& sums = batch_sums_.sums();
  device::set_zero(exec, sums.object);
  device::set_zero(exec, sums.dose);
  start_batch(exec, maxima_);
  batch_sums_.add_up(exec, sweep, batch, [&](const physics::Chunk& chunk) {
    pass_.add(exec, unknowns_.object, chunk, sums, moves_probe(epoch));
  });
  // Where the probe stays its sums, and with them the overlap, are zero.
  finish_probe_sums(exec, maxima_);
}

void Descent::judge(const Device& exec, Sweep& sweep, bool accepts) {
  // The epoch has one batch: its running sums are this point's.
  const DeviceView<double*>& sums = pass_.figures().sums();
  Kokkos::deep_copy(exec, cost_, DeviceView<double*>(sums.data() + physics::FigureSums::cost, 1));
  sweep.all_reduce(exec, cost_);
  Kokkos::parallel_for(device::kernel_name("tessera::solvers::judge"),
                       Kokkos::RangePolicy<Device>(exec, 0, 1), Judge{cost_, state_, accepts});
}

void Descent::take_step(const Device& exec, Sweep& sweep, const Unknowns& gradient) {
  sweep.fill(exec, halo::tile_field(direction_.object));
  const DeviceView<double>& step =
      line_search_.find_step(exec, sweep, space_, unknowns_, gradient, direction_, state_);
  move_along(exec, unknowns_, direction_, {step.data()}, unknowns_);
  // Ranks may round differently: the ghosts would drift away from their owners.
  sweep.fill(exec, halo::tile_field(unknowns_.object));
}

void Descent::add_slopes(const Device& exec, Sweep& sweep, const Batch& batch) {
  model_.set_probe(exec, unknowns_.probe);
  model_.scan().patterns->begin_pass(exec, sweep.pass());
  for (const auto& chunks : {batch.border, batch.interior})
    for (const physics::Chunk& chunk : chunks)
      slope_pass_.add(exec, unknowns_.object, chunk, batch_sums_.sums(), false);
}

void Descent::finish_epoch(const Device& exec, Sweep& sweep, int epoch) {
  if (epoch_end_.finish(exec, sweep, epoch)) {
    epoch_end_.modes().mix(exec, direction_.probe);
    rule_->mix(exec, epoch_end_.modes());
  }
  sweep.replicate(exec, as_reals(direction_.probe));
}

void Descent::expect_constraints(const Device& exec) {
  constrained_ = 1;
  rule_->expect_constraints(exec, space_, unknowns_);
}

Fields Descent::memory() {
  Fields fields = fields_of("direction", direction_);
  fields.push_back(field("state", Lives::everywhere, as_numbers(state_)));
  fields.push_back(host_field("constrained", constrained_));
  append(fields, rule_->memory());
  return fields;
}

template <>
Method method_of<settings::Descent>() {
  // Curvatures of single positions differ by half of them: 128 are good to some 4 %, of which a
  // step loses the square.
  return method<Descent>({.fewest = 128, .alone = true});
}

}  // namespace tessera::solvers

#include "solvers/line_search.hpp"

#include <array>
#include <cmath>

#include "tessera/physics/pattern_store.hpp"

namespace tessera::solvers {

using device::Device;
using device::DeviceView;

namespace {

constexpr int degree = Polynomial::degree;

/// Of LineSearch::sums_, behind the costs; and one for scratch.
constexpr int sample_slope = degree;
constexpr int downhill_product = physics::CostsAlong::n_sums;
constexpr int n_summed = downhill_product + 2;

/// How far along the interval the costs are taken: Chebyshev nodes of [0, 1], without 0.
double node(int k) {
  return 0.5 - 0.5 * std::cos(M_PI * (k + 1) / degree);
}

KOKKOS_FUNCTION double derivative(const Polynomial& polynomial, double x) {
  double sum = 0;
  for (int k = degree; k > 0; --k) sum = sum * x + k * polynomial.coefficient[k - 1];
  return sum;
}

/// Signed, in units of reach.
KOKKOS_FUNCTION double interval(const DescentState& state) {
  return state.accepted > 0 ? 3 : -state.moved / state.reach;
}

/// One thread: where in the interval the costs are taken.
struct PlaceNodes {
  double part[degree];
  DeviceView<DescentState> state;
  DeviceView<Real[degree]> times;
  KOKKOS_FUNCTION void operator()(int) const {
    for (int k = 0; k < degree; ++k) times(k) = static_cast<Real>(part[k] * interval(state()));
  }
};

/// One thread: from costs of the sample at the nodes, and the slope of all, to the step.
struct ChooseStep {
  DeviceView<double[degree][degree]> fit;
  DeviceView<double*> sums;
  double positions_per_sampled;
  DeviceView<DescentState> state;
  DeviceView<double> step;
  KOKKOS_FUNCTION void operator()(int) const {
    DescentState& s = state();
    Polynomial p{};
    for (int i = 0; i < degree; ++i) {
      for (int k = 0; k < degree; ++k) p.coefficient[i] += fit(i, k) * sums(k);
      p.coefficient[i] *= positions_per_sampled;
    }
    // Of a wave the derivative is twice that by its conjugate, and downhill is minus that.
    if (positions_per_sampled > 1)
      p.coefficient[0] -= interval(s) * (2 * s.reach * sums(downhill_product) +
                                         positions_per_sampled * sums(sample_slope));
    double part = first_minimum(p);
    if (s.rejected > 0 && part < 0.5) part = 0.5;
    const double t = part * interval(s);
    step() = t * s.reach;
    s.moved = s.accepted > 0 ? step() : s.moved + step();
    constexpr double smallest = 1.0 / 16;
    const double length = t < 0 ? -t : t;
    s.reach *= length > smallest ? length : smallest;
  }
};

/// From the values of a polynomial at the nodes, 0 at 0, to its coefficients: those of Lagrange's
/// basis.
DeviceView<double[degree][degree]> make_fit() {
  DeviceView<double[degree][degree]> fit("tessera::solvers::fit");
  const auto host = Kokkos::create_mirror_view(fit);
  for (int k = 0; k < degree; ++k) {
    std::array<double, degree> basis{1 / node(k)};  // of x, x^2, ...
    for (int j = 0; j < degree; ++j) {
      if (j == k) continue;
      for (int i = degree - 1; i >= 0; --i)
        basis[i] = ((i > 0 ? basis[i - 1] : 0) - node(j) * basis[i]) / (node(k) - node(j));
    }
    for (int i = 0; i < degree; ++i) host(i, k) = basis[i];
  }
  Kokkos::deep_copy(fit, host);
  return fit;
}

}  // namespace

KOKKOS_FUNCTION double first_minimum(const Polynomial& polynomial) {
  if (!(derivative(polynomial, 0) < 0)) return 0;
  constexpr double growth = 1.25;
  double falls = 0;
  double rises = 1.0 / 1024;
  while (derivative(polynomial, rises) < 0) {
    if (rises == 1) return 1;
    falls = rises;
    rises = rises * growth < 1 ? rises * growth : 1;
  }
  constexpr int n_bisections = 40;
  for (int i = 0; i < n_bisections; ++i) {
    const double middle = (falls + rises) / 2;
    (derivative(polynomial, middle) < 0 ? falls : rises) = middle;
  }
  return falls;
}

LineSearch::LineSearch(const Unknowns& unknowns, physics::ForwardModel& model)
    : model_(model),
      costs_along_(model),
      ahead_(make_trial(unknowns)),
      behind_(make_trial(unknowns)),
      times_("tessera::solvers::times"),
      fit_(make_fit()),
      sums_("tessera::solvers::cost_changes", n_summed),
      step_("tessera::solvers::step") {}

const DeviceView<double>& LineSearch::find_step(const Device& exec, Sweep& sweep,
                                                const UnknownSpace& space, const Unknowns& unknowns,
                                                const Unknowns& downhill, const Unknowns& direction,
                                                const DeviceView<DescentState>& state) {
  const device::Region region("line search");
  make_trials(exec, unknowns, direction, state);
  device::set_zero(exec, sums_);
  model_.set_probe(exec, unknowns.probe);
  const physics::CostsAlong::Line line{{unknowns.object, model_.illumination().seen()},
                                       {ahead_.object, ahead_.probe},
                                       {behind_.object, behind_.probe}};
  const physics::Pass sample = sweep.sample();
  model_.scan().patterns->begin_pass(exec, sample);
  for (const physics::Chunk& chunk : sample.chunks)
    costs_along_.add(exec, line, chunk, times_, sums_);
  space.add_product(exec, downhill, direction,
                    DeviceView<double*>(sums_.data() + downhill_product, 2));
  sweep.all_reduce(exec, sums_);
  Kokkos::parallel_for(device::kernel_name("tessera::solvers::choose_step"),
                       Kokkos::RangePolicy<Device>(exec, 0, 1),
                       ChooseStep{fit_, sums_, sweep.positions_per_sampled(), state, step_});
  return step_;
}

LineSearch::Trial LineSearch::make_trial(const Unknowns& unknowns) const {
  const Unknowns at = make_like(unknowns);
  return {at.object, model_.illumination().with_slots(at.probe)};
}

void LineSearch::make_trials(const Device& exec, const Unknowns& unknowns,
                             const Unknowns& direction, const DeviceView<DescentState>& state) {
  const double* reach = &state.data()->reach;
  const auto move = [&](const Factor& factor, Trial& trial) {
    move_along(exec, unknowns, direction, factor, {trial.object, trial.probe.probe});
    model_.illumination().transform(exec, trial.probe);
  };
  move({reach}, ahead_);
  move({reach, -1}, behind_);
  PlaceNodes place{{}, state, times_};
  for (int k = 0; k < degree; ++k) place.part[k] = node(k);
  Kokkos::parallel_for(device::kernel_name("tessera::solvers::place_nodes"),
                       Kokkos::RangePolicy<Device>(exec, 0, 1), place);
}

}  // namespace tessera::solvers

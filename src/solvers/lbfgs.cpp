#include <algorithm>

#include "tessera/base/text.hpp"

#include "solvers/direction.hpp"

namespace tessera::solvers {

using device::Device;
using device::DeviceView;

namespace {

/// Work of one thread on the device, on a few numbers.
template <class F>
void on_scalars(const Device& exec, const F& f) {
  Kokkos::parallel_for(device::kernel_name("tessera::solvers::lbfgs_scalars"),
                       Kokkos::RangePolicy<Device>(exec, 0, 1), f);
}

/// From <s, y> and <y, M y> of the newest pair.
struct Measure {
  DeviceView<double* [2]> products;
  DeviceView<double*> inverse_products;
  DeviceView<double> scale;
  int newest;
  KOKKOS_FUNCTION void operator()(int) const {
    const double step_change = products(0, 0);
    const double change_change = products(1, 0);
    const bool is_convex = step_change > 0 && change_change > 0;
    inverse_products(newest) = is_convex ? 1 / step_change : 0;
    if (is_convex) scale() = step_change / change_change;
  }
};

}  // namespace

LimitedMemoryBfgs::LimitedMemoryBfgs(const Unknowns& unknowns, int n_history)
    : previous_(make_like(unknowns)),
      work_(make_like(unknowns)),
      unconstrained_(make_like(unknowns)),
      products_("tessera::solvers::products", 2),
      inverse_products_("tessera::solvers::inverse_products", n_history),
      factors_("tessera::solvers::factors", n_history),
      scale_("tessera::solvers::scale") {
  for (int i = 0; i < n_history; ++i) {
    steps_.push_back(make_like(unknowns));
    gradient_changes_.push_back(make_like(unknowns));
  }
  Kokkos::deep_copy(scale_, 1.0);
}

const double* LimitedMemoryBfgs::product(const Device& exec, Sweep& sweep,
                                         const UnknownSpace& space, const Unknowns& a,
                                         const Unknowns& b) const {
  const DeviceView<double*> product(products_.data(), 2);
  device::set_zero(exec, product);
  space.add_product(exec, a, b, product);
  sweep.all_reduce(exec, product);
  return product.data();
}

void LimitedMemoryBfgs::remember(const Device& exec, Sweep& sweep, const DescentStep& step,
                                 const Unknowns& direction) {
  const int newest = n_updates_ % static_cast<int>(steps_.size());
  const Unknowns& s = steps_[newest];
  const Unknowns& y = gradient_changes_[newest];
  const DescentState* state = step.state.data();
  // Of a rejected point nothing is remembered: s, y = 0.
  step.space.combine(exec, s, {&state->completed}, direction, {nullptr, 0});
  step.space.combine(exec, y, {&state->accepted}, previous_, {nullptr, 0});
  step.space.combine(exec, y, {&state->accepted, -1}, step.gradient);
  step.space.combine(exec, previous_, {&state->accepted}, step.gradient, {&state->rejected});
  if (step.constrained) {  // and so accepted
    step.space.combine(exec, s, {}, step.unknowns);
    step.space.combine(exec, s, {nullptr, -1}, unconstrained_);
  }
  step.preconditioner.apply(exec, y, work_);
  const DeviceView<double*> all(products_.data(), products_.size());
  device::set_zero(exec, all);
  step.space.add_product(exec, s, y, DeviceView<double*>(products_.data(), 2));
  step.space.add_product(exec, y, work_, DeviceView<double*>(products_.data() + 2, 2));
  sweep.all_reduce(exec, all);
  on_scalars(exec, Measure{products_, inverse_products_, scale_, newest});
}

void LimitedMemoryBfgs::update(const Device& exec, Sweep& sweep, const DescentStep& step,
                               const Unknowns& direction) {
  const int n_history = static_cast<int>(steps_.size());
  // The first update has no step before it: only the gradient is kept.
  if (n_updates_ == 0) {
    step.space.combine(exec, previous_, {}, step.gradient, {nullptr, 0});
  } else {
    remember(exec, sweep, step, direction);
  }
  const int oldest = std::max(1, n_updates_ - n_history + 1);
  const auto inverse_products = inverse_products_;
  const auto factors = factors_;
  step.space.combine(exec, work_, {}, step.gradient, {nullptr, 0});
  for (int i = n_updates_; i >= oldest; --i) {
    const int at = i % n_history;
    const double* product = this->product(exec, sweep, step.space, steps_[at], work_);
    on_scalars(exec, KOKKOS_LAMBDA(int) { factors(at) = inverse_products(at) * *product; });
    step.space.combine(exec, work_, {factors.data() + at, -1}, gradient_changes_[at]);
  }
  step.preconditioner.apply(exec, work_, work_);
  step.space.combine(exec, work_, {nullptr, 0}, work_, {scale_.data()});
  for (int i = oldest; i <= n_updates_; ++i) {
    const int at = i % n_history;
    const double* product = this->product(exec, sweep, step.space, gradient_changes_[at], work_);
    on_scalars(exec, KOKKOS_LAMBDA(int) { factors(at) -= inverse_products(at) * *product; });
    step.space.combine(exec, work_, {factors.data() + at}, steps_[at]);
  }
  const DescentState* state = step.state.data();
  step.space.combine(exec, direction, {&state->accepted}, work_, {&state->rejected});
  ++n_updates_;
}

void LimitedMemoryBfgs::mix(const Device& exec, const physics::ModeOrthogonaliser& modes) {
  modes.mix(exec, previous_.probe);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    modes.mix(exec, steps_[i].probe);
    modes.mix(exec, gradient_changes_[i].probe);
  }
}

void LimitedMemoryBfgs::expect_constraints(const Device& exec, const UnknownSpace& space,
                                           const Unknowns& unknowns) {
  space.combine(exec, unconstrained_, {}, unknowns, {nullptr, 0});
}

Fields LimitedMemoryBfgs::memory() {
  Fields fields = fields_of("previous", previous_);
  append(fields, fields_of("unconstrained", unconstrained_));
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    append(fields, fields_of(text("step_", i), steps_[i]));
    append(fields, fields_of(text("gradient_change_", i), gradient_changes_[i]));
  }
  fields.push_back(field("inverse_products", Lives::everywhere, inverse_products_));
  fields.push_back(field("scale", Lives::everywhere, scale_));
  fields.push_back(host_field("updates", n_updates_));
  return fields;
}

}  // namespace tessera::solvers

#include "solvers/direction.hpp"

namespace tessera::solvers {

using device::Device;
using device::DeviceView;

namespace {

enum Product { gradient_z, previous_z, direction_gradient, n_products };  // z = M gradient
enum Weight { of_z, of_direction, previous_product };

struct ChooseWeights {
  DeviceView<double* [2]> products;
  DeviceView<double[3]> weights;
  DeviceView<DescentState> state;
  bool starts_over;
  bool constrained;
  KOKKOS_FUNCTION void operator()(int) const {
    weights(of_z) = state().accepted;
    weights(of_direction) = state().rejected;
    if (state().rejected > 0) return;
    const double now = products(gradient_z, 0);
    const double change = now - products(previous_z, 0);
    double beta = 0;
    if (!starts_over && weights(previous_product) > 0 && change > 0)
      beta = change / weights(previous_product);
    // Constraints may make a large gradient of next to none, with which it has nothing to do.
    if (constrained && beta > 1) beta = 1;
    if (now + beta * products(direction_gradient, 0) <= 0) beta = 0;
    weights(of_direction) = beta;
    weights(previous_product) = now;
  }
};

}  // namespace

ConjugateGradient::ConjugateGradient(const Unknowns& unknowns)
    : previous_(make_like(unknowns)),
      preconditioned_(make_like(unknowns)),
      products_("tessera::solvers::products", n_products),
      weights_("tessera::solvers::direction_weights") {}

void ConjugateGradient::update(const Device& exec, Sweep& sweep, const DescentStep& step,
                               const Unknowns& direction) {
  step.preconditioner.apply(exec, step.gradient, preconditioned_);
  const DeviceView<double*> all(products_.data(), products_.size());
  device::set_zero(exec, all);
  const auto add_product = [&](Product at, const Unknowns& a, const Unknowns& b) {
    step.space.add_product(exec, a, b, DeviceView<double*>(&products_.data()[2 * at], 2));
  };
  add_product(gradient_z, step.gradient, preconditioned_);
  add_product(previous_z, previous_, preconditioned_);
  add_product(direction_gradient, direction, step.gradient);
  sweep.all_reduce(exec, all);
  Kokkos::parallel_for(
      device::kernel_name("tessera::solvers::conjugate"), Kokkos::RangePolicy<Device>(exec, 0, 1),
      ChooseWeights{products_, weights_, step.state, starts_over_, step.constrained});
  starts_over_ = false;
  const DescentState* state = step.state.data();
  step.space.combine(exec, direction, {weights_.data() + of_z}, preconditioned_,
                     {weights_.data() + of_direction});
  step.space.combine(exec, previous_, {&state->accepted}, step.gradient, {&state->rejected});
}

void ConjugateGradient::mix(const Device& exec, const physics::ModeOrthogonaliser& modes) {
  modes.mix(exec, previous_.probe);
}

Fields ConjugateGradient::memory() {
  Fields fields = fields_of("previous", previous_);
  fields.push_back(field("weights", Lives::everywhere, weights_));
  return fields;
}

}  // namespace tessera::solvers

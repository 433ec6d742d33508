#include "tessera/run/good_state.hpp"

namespace tessera::run {
namespace {

template <class View>
View like(const View& view) {
  return View(Kokkos::view_alloc("tessera::run::good_state", Kokkos::WithoutInitializing),
              view.layout());
}

physics::Parameters like(const physics::Parameters& of) {
  return {.shift = like(of.shift),
          .opr_weight = like(of.opr_weight),
          .intensity = like(of.intensity),
          .background = like(of.background),
          .slice_distance_m = like(of.slice_distance_m),
          .tilt_rad = like(of.tilt_rad)};
}

}  // namespace

GoodState::GoodState(const solvers::Unknowns& unknowns, const device::DeviceView<int* [2]>& corner,
                     const device::DeviceView<double* [2]>& displacement)
    : now_{unknowns, corner, displacement},
      kept_{{like(unknowns.object), like(unknowns.probe), like(unknowns.parameters)},
            like(corner),
            like(displacement)} {}

void GoodState::keep(const device::Device& exec) const {
  copy(exec, kept_, now_);
}

void GoodState::put_back(const device::Device& exec) const {
  copy(exec, now_, kept_);
}

/// A parameter that the model lacks is a view without memory, which is not copied.
void GoodState::copy(const device::Device& exec, const State& to, const State& from) {
  const auto copy_view = [&](const auto& into, const auto& of) {
    if (into.data() && of.data()) Kokkos::deep_copy(exec, into, of);
  };
  copy_view(to.unknowns.object, from.unknowns.object);
  copy_view(to.unknowns.probe, from.unknowns.probe);
  copy_view(to.corner, from.corner);
  copy_view(to.displacement, from.displacement);
  const physics::Parameters& into = to.unknowns.parameters;
  const physics::Parameters& of = from.unknowns.parameters;
  copy_view(into.shift, of.shift);
  copy_view(into.opr_weight, of.opr_weight);
  copy_view(into.intensity, of.intensity);
  copy_view(into.background, of.background);
  copy_view(into.slice_distance_m, of.slice_distance_m);
  copy_view(into.tilt_rad, of.tilt_rad);
}

}  // namespace tessera::run

#include "object_bounds.hpp"

#include <algorithm>

namespace tessera::solvers {

using device::complex;
using device::Device;

ObjectBounds object_bounds(const ConstraintOptions& options, int epoch) {
  ObjectBounds bounds;
  if (options.l1.acts(epoch)) bounds.l1_threshold = static_cast<Real>(options.l1_threshold);
  Interval phase{-std::numbers::pi, std::numbers::pi};
  if (options.phase_bounds.acts(epoch)) phase = options.phase_rad;
  if (options.positive_phase.acts(epoch)) phase.least = std::max(0.0, phase.least);
  bounds.bounds_phase = options.phase_bounds.acts(epoch) || options.positive_phase.acts(epoch);
  bounds.least_phase_rad = static_cast<Real>(phase.least);
  bounds.greatest_phase_rad = static_cast<Real>(phase.greatest);
  bounds.bounds_amplitude = options.amplitude_bounds.acts(epoch);
  bounds.least_amplitude = static_cast<Real>(options.amplitude.least);
  bounds.greatest_amplitude = static_cast<Real>(options.amplitude.greatest);
  bounds.has_support = options.object_support.acts(epoch);
  bounds.support_radius_px = static_cast<Real>(options.object_support_radius_px);
  return bounds;
}

namespace {

KOKKOS_FUNCTION Real amplitude_of(const complex& value) {
  return device::math::sqrt(value.real() * value.real() + value.imag() * value.imag());
}

KOKKOS_FUNCTION complex shrunk(const complex& value, Real threshold) {
  const complex difference = value - complex(1);
  const Real length = amplitude_of(difference);
  if (length <= threshold) return complex(1);
  return complex(1) + difference * (1 - threshold / length);
}

KOKKOS_FUNCTION complex with_bounded_phase(const complex& value, Real least, Real greatest) {
  const Real phase = device::math::atan2(value.imag(), value.real());
  if (phase >= least && phase <= greatest) return value;
  constexpr Real turn = static_cast<Real>(2 * std::numbers::pi);
  const Real to_least = phase < least ? least - phase : least - phase + turn;
  const Real to_greatest = phase > greatest ? phase - greatest : phase - greatest + turn;
  const Real bound = to_least < to_greatest ? least : greatest;
  const Real amplitude = amplitude_of(value);
  return {amplitude * device::math::cos(bound), amplitude * device::math::sin(bound)};
}

KOKKOS_FUNCTION complex with_bounded_amplitude(const complex& value, Real least, Real greatest) {
  const Real amplitude = amplitude_of(value);
  if (amplitude >= least && amplitude <= greatest) return value;
  const Real bound = amplitude < least ? least : greatest;
  return amplitude > 0 ? value * (bound / amplitude) : complex(bound);
}

}  // namespace

void apply_bounds(const Device& exec, const ObjectBounds& bounds, const TileFrame& frame,
                  const device::DeviceView<Real**>& coverage, const physics::ObjectView& object) {
  const Shape2 tile = device::image_shape(object);
  const Real centre_y =
      static_cast<Real>(frame.object.h - 1) / 2 - static_cast<Real>(frame.origin.y);
  const Real centre_x =
      static_cast<Real>(frame.object.w - 1) / 2 - static_cast<Real>(frame.origin.x);
  const Real radius = bounds.support_radius_px;
  device::for_each_pixel(
      exec, "tessera::solvers::apply_bounds", static_cast<int>(object.extent(0)), tile,
      KOKKOS_LAMBDA(const int plane, const int y, const int x) {
        complex value = object(plane, y, x);
        if (bounds.l1_threshold > 0) value = shrunk(value, bounds.l1_threshold);
        if (bounds.bounds_phase)
          value = with_bounded_phase(value, bounds.least_phase_rad, bounds.greatest_phase_rad);
        if (bounds.bounds_amplitude)
          value = with_bounded_amplitude(value, bounds.least_amplitude, bounds.greatest_amplitude);
        if (bounds.has_support) {
          const Real dy = static_cast<Real>(y) - centre_y;
          const Real dx = static_cast<Real>(x) - centre_x;
          const bool inside =
              radius > 0 ? dy * dy + dx * dx <= radius * radius : coverage(y, x) > 0;
          if (!inside) value = complex(1);
        }
        object(plane, y, x) = value;
      });
}

}  // namespace tessera::solvers

// Constraints of every object pixel for itself.

#include <numbers>

#include "constraint.hpp"

namespace tessera::solvers {

using device::complex;
using device::Device;

namespace {

/// Those that act after one epoch.
struct BoundsNow {
  Real l1_threshold = 0;  ///< 0: none
  bool bounds_phase = false;
  Real min_phase_rad = 0;
  Real max_phase_rad = 0;
  bool bounds_amplitude = false;
  Real min_amplitude = 0;
  Real max_amplitude = 0;
  bool has_support = false;
  Real support_radius_px = 0;  ///< 0: where there is coverage
};

BoundsNow bounds_after(int epoch, const settings::ObjectBounds& settings) {
  BoundsNow bounds;
  if (settings.l1.acts(epoch)) bounds.l1_threshold = static_cast<Real>(settings.l1_threshold);
  double min_phase_rad = -std::numbers::pi;
  double max_phase_rad = std::numbers::pi;
  if (settings.phase.acts(epoch)) {
    min_phase_rad = std::max(min_phase_rad, settings.phase_rad[0]);
    max_phase_rad = std::min(max_phase_rad, settings.phase_rad[1]);
  }
  if (settings.positive_phase.acts(epoch)) min_phase_rad = std::max(0.0, min_phase_rad);
  bounds.bounds_phase = settings.phase.acts(epoch) || settings.positive_phase.acts(epoch);
  bounds.min_phase_rad = static_cast<Real>(min_phase_rad);
  bounds.max_phase_rad = static_cast<Real>(max_phase_rad);
  bounds.bounds_amplitude = settings.amplitude.acts(epoch);
  bounds.min_amplitude = static_cast<Real>(settings.amplitude_range[0]);
  bounds.max_amplitude = static_cast<Real>(settings.amplitude_range[1]);
  bounds.has_support = settings.support.acts(epoch);
  bounds.support_radius_px = static_cast<Real>(settings.support_radius_px);
  return bounds;
}

KOKKOS_FUNCTION Real amplitude_of(const complex& value) {
  return device::math::sqrt(value.real() * value.real() + value.imag() * value.imag());
}

KOKKOS_FUNCTION complex shrunk(const complex& value, Real threshold) {
  const complex difference = value - complex(1);
  const Real length = amplitude_of(difference);
  if (length <= threshold) return {1, 0};
  return complex(1) + difference * (1 - threshold / length);
}

KOKKOS_FUNCTION complex with_bounded_phase(const complex& value, Real min, Real max) {
  const Real phase = device::math::atan2(value.imag(), value.real());
  if (phase >= min && phase <= max) return value;
  constexpr Real turn = static_cast<Real>(2 * std::numbers::pi);
  const Real to_min = phase < min ? min - phase : min - phase + turn;
  const Real to_max = phase > max ? phase - max : phase - max + turn;
  const Real bound = to_min < to_max ? min : max;
  const Real amplitude = amplitude_of(value);
  return {amplitude * device::math::cos(bound), amplitude * device::math::sin(bound)};
}

KOKKOS_FUNCTION complex with_bounded_amplitude(const complex& value, Real min, Real max) {
  const Real amplitude = amplitude_of(value);
  if (amplitude >= min && amplitude <= max) return value;
  const Real bound = amplitude < min ? min : max;
  return amplitude > 0 ? value * (bound / amplitude) : complex(bound);
}

/// In turn: o - 1 shrinks by the threshold; the phase goes to the nearer bound, the amplitude
/// stays; the amplitude goes to its bound; what is outside the support becomes 1. At every pixel of
/// the tile, ghosts too: no exchange.
void apply_bounds(const Device& exec, const BoundsNow& bounds, const TileFrame& frame,
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
          value = with_bounded_phase(value, bounds.min_phase_rad, bounds.max_phase_rad);
        if (bounds.bounds_amplitude)
          value = with_bounded_amplitude(value, bounds.min_amplitude, bounds.max_amplitude);
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

class ObjectBounds final : public Constraint {
 public:
  explicit ObjectBounds(const settings::ObjectBounds& settings)
      : Constraint(settings.onsets()), settings_(settings) {}
  Needs needs() const override {
    return {.coverage = settings_.support.ever() && settings_.support_radius_px == 0};
  }
  void apply(const Device& exec, Sweep& /*sweep*/, const Unknowns& unknowns,
             const ConstraintWorkspace& workspace, int epoch) const override {
    apply_bounds(exec, bounds_after(epoch, settings_), workspace.frame, workspace.coverage,
                 unknowns.object);
  }

 private:
  settings::ObjectBounds settings_;
};

}  // namespace

template <>
std::unique_ptr<Constraint> make_constraint(const settings::ObjectBounds& settings) {
  return std::make_unique<ObjectBounds>(settings);
}

}  // namespace tessera::solvers

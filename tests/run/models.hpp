#pragma once
/// The models that every method is tested with, as overrides of the small deck; the simulation has
/// what the model is for.

#include <ostream>
#include <string>
#include <vector>

#include "tessera/device/device.hpp"

#include "deck/methods.hpp"
#include "support/deck_text.hpp"

namespace tessera::testing {

inline constexpr bool in_float = sizeof(Real) == 4;
inline constexpr double strict = in_float ? 1e-4 : 1e-9;
/// In dark pixels the slope of this cost has no bound, and float's rounding grows; double shows
/// that it is rounding.
inline constexpr double loose = in_float ? 5e-2 : 1e-9;

struct Model {
  const char* name;
  std::vector<std::string> overrides;
  double tolerance = strict;
};

inline const std::vector<Model> models{
    {"plain", {}},
    {"three_modes", {"probe.n_modes=3"}},
    {"object_modes", {"object.n_modes=2"}},
    {"opr", {"probe.opr_modes=2", "simulation.probe_drift=0.3"}},
    {"two_slices", {"object.n_slices=2", "object.slice_thickness_m=20e-6"}},
    {"positions",
     {"refine.positions_from_epoch=1", "simulation.position_error_px=1",
      "refine.positions_limit_px=3"}},
    {"correlated_positions",
     {"refine.positions_from_epoch=1", "refine.positions_method=cross_correlation",
      "simulation.position_error_px=1", "refine.positions_limit_px=3"}},
    {"affine_positions",
     {"refine.positions_from_epoch=1", "refine.positions_model=affine",
      "simulation.position_affine=[0.02, 0, 0.02, 0]"}},
    {"tv_and_bounds",
     {"constraints.object_tv_from_epoch=0", "constraints.object_tv=0.02",
      "constraints.object_amplitude_from_epoch=1", "constraints.object_amplitude=[0, 1.05]"}},
    {"background", {"refine.background_from_epoch=1", "simulation.background_fraction=0.2"}},
    {"intensity", {"refine.intensity_from_epoch=1", "simulation.intensity_jitter=0.1"}},
    {"fly_scan", {"experiment.fly_sub_positions=3", "experiment.fly_travel_m=[0, 60e-9]"}},
    {"near_field",
     {"experiment.propagation=fresnel", "experiment.distance_m=2e-3",
      "experiment.detector_pixel_m=200e-9", "probe.semi_angle_rad=3e-4", "probe.defocus_m=5e-3",
      "simulation.step_m=1e-6", "simulation.diffuser_rad=0.5"}},
    {"poisson", {"solver.noise=poisson"}, loose},
    {"point_spread", {"experiment.point_spread_px=0.6"}},
};

inline void PrintTo(const Model& model, std::ostream* out) {
  *out << model.name;
}

/// @throws InputError if the method does not go with the model
inline deck::Deck deck_of(const std::filesystem::path& folder, const Model& model,
                          const std::string& method) {
  std::vector<std::string> overrides = model.overrides;
  overrides.push_back("solver.method=" + method);
  if (!deck::allows(method, deck::Option::batches)) overrides.emplace_back("solver.batch_size=0");
  return parsed(folder, overrides);
}

}  // namespace tessera::testing

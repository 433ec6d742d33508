// Every method with every model that it allows: N ranks compute what one rank computes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/simulation/simulation.hpp"
#include "tessera/deck/methods.hpp"

#include "support/deck_text.hpp"
#include "support/same_answer.hpp"

namespace tessera::run {
namespace {

using testing::world;

constexpr bool in_float = sizeof(Real) == 4;
constexpr double strict = in_float ? 1e-4 : 1e-9;
/// In dark pixels the slope of these costs has no bound, and float's rounding grows; double shows
/// that it is rounding.
constexpr double loose = in_float ? 5e-3 : 1e-9;

/// A model, as overrides of the small deck. The simulation has what the model is for.
struct Model {
  const char* name;
  std::vector<std::string> overrides;
  double tolerance = strict;
};

const std::vector<Model> models{
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
    {"point_spread", {"experiment.point_spread_px=0.6"}, loose},
};

void PrintTo(const Model& model, std::ostream* out) {
  *out << model.name;
}

class Matrix : public ::testing::TestWithParam<std::tuple<Model, std::string>> {
 protected:
  static const Model& model() { return std::get<0>(GetParam()); }
  static const std::string& method() { return std::get<1>(GetParam()); }
  static deck::Deck deck(const std::filesystem::path& folder) {
    std::vector<std::string> overrides = model().overrides;
    overrides.push_back("solver.method=" + method());
    if (!deck::allows(method(), deck::Option::batches))
      overrides.emplace_back("solver.batch_size=0");
    return testing::parsed(folder, overrides);
  }
};

TEST_P(Matrix, ComputesWhatOneRankComputesOrIsRefusedByName) {
  const testing::SharedFolder folder(std::string("matrix_") + model().name);
  deck::Deck with_method;
  try {
    with_method = deck(folder.path());
  } catch (const InputError& refused) {
    EXPECT_THAT(refused.what(), ::testing::HasSubstr(method() + "\" does not go with"));
    return;
  }
  simulation::simulate(with_method, world(), Log(false));
  const double tolerance = model().tolerance;
  testing::expect_same_answer(with_method, 3, tolerance, in_float ? 0.3 * tolerance : 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Models, Matrix,
                         ::testing::Combine(::testing::ValuesIn(models),
                                            ::testing::ValuesIn(deck::method_names())),
                         [](const auto& shown) {
                           return std::string(std::get<0>(shown.param).name) + "_" +
                                  std::get<1>(shown.param);
                         });

}  // namespace
}  // namespace tessera::run

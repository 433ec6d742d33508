// Every method with every model that it allows: N ranks compute what one rank computes.

#include <gtest/gtest.h>

#include "tessera/app/simulation.hpp"
#include "tessera/deck/methods.hpp"

#include "app/deck_text.hpp"
#include "app/same_answer.hpp"

namespace tessera::app {
namespace {

using testing::world;

constexpr bool in_float = sizeof(Real) == 4;
constexpr double tolerance = in_float ? 1e-4 : 1e-9;

/// A model, as overrides of the small deck. The simulation has what the model is for.
struct Model {
  const char* name;
  std::vector<std::string> overrides;
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
    {"affine_positions",
     {"refine.positions_from_epoch=1", "refine.positions_model=affine",
      "simulation.position_affine=[0.02, 0, 0.02, 0]"}},
    {"tv_and_bounds",
     {"constraints.object_tv_from_epoch=0", "constraints.object_tv=0.02",
      "constraints.object_amplitude_from_epoch=1", "constraints.object_amplitude=[0, 1.05]"}},
    {"background", {"refine.background_from_epoch=0", "simulation.background_fraction=0.2"}},
    {"intensity", {"refine.intensity_from_epoch=1", "simulation.intensity_jitter=0.1"}},
    {"fly_scan", {"experiment.fly_sub_positions=3", "experiment.fly_travel_m=[0, 60e-9]"}},
    {"near_field",
     {"experiment.propagation=fresnel", "experiment.distance_m=2e-3",
      "experiment.detector_pixel_m=80e-9", "probe.semi_angle_rad=2e-4", "probe.defocus_m=1e-3",
      "simulation.step_m=400e-9", "simulation.diffuser_rad=0.5"}},
    {"poisson", {"solver.noise=poisson"}},
    {"point_spread", {"experiment.point_spread_px=0.6"}},
};

class Matrix : public ::testing::TestWithParam<Model> {};

TEST_P(Matrix, EveryMethodThatAllowsItComputesWhatOneRankComputes) {
  const testing::SharedFolder folder(std::string("matrix_") + GetParam().name);
  std::vector<std::string> overrides = GetParam().overrides;
  std::erase(overrides, "solver.noise=poisson");
  simulate(testing::parsed(folder.path(), overrides), world(), Log(false));
  int n_run = 0;
  for (const std::string& method : deck::method_names()) {
    SCOPED_TRACE(method);
    std::vector<std::string> with_method = GetParam().overrides;
    with_method.push_back("solver.method=" + method);
    if (!deck::allows(method, deck::Option::batches))
      with_method.emplace_back("solver.batch_size=0");
    deck::Deck deck;
    try {
      deck = testing::parsed(folder.path(), with_method);
    } catch (const InputError& refused) {
      EXPECT_NE(std::string(refused.what()).find("does not go with"), std::string::npos)
          << refused.what();
      continue;
    }
    ++n_run;
    testing::expect_same_answer(deck, 3, tolerance, in_float ? 1e-5 : 1e-9);
  }
  EXPECT_GE(n_run, 4);
}

INSTANTIATE_TEST_SUITE_P(Models, Matrix, ::testing::ValuesIn(models),
                         [](const auto& shown) { return std::string(shown.param.name); });

}  // namespace
}  // namespace tessera::app

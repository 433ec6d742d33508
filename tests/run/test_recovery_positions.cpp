// Scan positions that were written wrong come out right, on any number of ranks.

#include <iostream>

#include <gtest/gtest.h>

#include "simulation/simulation.hpp"
#include "support/compared_with_truth.hpp"
#include "support/deck_text.hpp"

namespace tessera::run {
namespace {

using testing::world;

/// Distance of the positions from the truth, root mean square, mean removed, after `epochs`.
/// @param errors overrides: what is wrong with the positions, and how that is refined
double position_error_px(const testing::SharedFolder& folder,
                         const std::vector<std::string>& errors, int epochs) {
  std::vector<std::string> overrides{"solver.epochs=300", "solver.full_step_fraction=1",
                                     "refine.positions_from_epoch=5", "refine.positions_step=2"};
  overrides.insert(overrides.end(), errors.begin(), errors.end());
  const deck::Deck deck = testing::parsed(folder.path(), overrides, testing::atoms_deck);
  simulation::simulate(deck, world(), Log(false));
  return testing::compared_with_truth(deck, epochs).position_error_px.value_or(1e9);
}

struct PositionErrors {
  const char* name;
  std::vector<std::string> overrides;
};

void PrintTo(const PositionErrors& errors, std::ostream* out) {
  *out << errors.name;
}

class PositionRecovery : public ::testing::TestWithParam<PositionErrors> {};
INSTANTIATE_TEST_SUITE_P(
    Errors, PositionRecovery,
    ::testing::Values(PositionErrors{"uniform", {"simulation.position_error_px=1.5"}},
                      PositionErrors{
                          "correlated",
                          {"refine.positions_method=cross_correlation", "refine.positions_step=1",
                           "simulation.position_error_px=1.5"}},
                      PositionErrors{"affine",
                                     {"refine.positions_model=affine", "refine.positions_step=4",
                                      "simulation.position_affine=[0.08, -0.08, 0.06, 0.05]"}}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST_P(PositionRecovery, ErrorsOfAPixelAndAHalfShrinkToATwentiethOfAPixel) {
  const testing::SharedFolder folder(std::string("positions_") + GetParam().name);
  const double before = position_error_px(folder, GetParam().overrides, 1);
  const double after = position_error_px(folder, GetParam().overrides, 300);
  if (world().is_root())
    std::cout << GetParam().name << ": " << before << " px rms before, " << after << " after\n";
  EXPECT_GT(before, 1.4);
  EXPECT_LE(after, 0.05);
}

}  // namespace
}  // namespace tessera::run

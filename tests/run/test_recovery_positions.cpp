// Scan positions that were written wrong come out right, on any number of ranks.

#include <cmath>
#include <iostream>

#include <gtest/gtest.h>

#include "tessera/io/hdf5.hpp"

#include "simulation/simulation.hpp"
#include "support/compared_with_truth.hpp"
#include "support/deck_text.hpp"

namespace tessera::run {
namespace {

using testing::world;

/// Distance of the positions from the truth, root mean square, mean removed, after `epochs`.
/// @param errors overrides: what is wrong with the positions, and how that is refined
double position_error_px(const testing::SharedFolder& folder,
                         const std::vector<std::string>& errors, int epochs,
                         const std::string& toml = testing::atoms_deck) {
  std::vector<std::string> overrides{"solver.epochs=300", "refine.positions_from_epoch=5",
                                     "refine.positions_step=2"};
  overrides.insert(overrides.end(), errors.begin(), errors.end());
  const deck::Deck deck = testing::parsed(folder.path(), overrides, toml);
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
    ::testing::Values(
        PositionErrors{"uniform",
                       {"solver.full_step_fraction=1", "simulation.position_error_px=1.5"}},
        PositionErrors{"correlated",
                       {"solver.full_step_fraction=1", "refine.positions_method=cross_correlation",
                        "refine.positions_step=1", "simulation.position_error_px=1.5"}},
        PositionErrors{
            "affine",
            {"solver.full_step_fraction=1", "refine.positions_model=affine",
             "refine.positions_step=4", "simulation.position_affine=[0.08, -0.08, 0.06, 0.05]"}}),
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

/// Noise moves many positions at once along what few counts hardly tell; these were right.
TEST(FewCounts, LeavePositionsWhereTheScanHasThem) {
  const testing::SharedFolder folder("positions_few_counts");
  const auto error_px = [&](const std::string& expected_px) {
    return position_error_px(
        folder,
        {"simulation.object=cells", "simulation.phase_rad=0.5",
         "simulation.counts_per_pattern=1000", "solver.epochs=100", "refine.positions_step=1",
         "refine.positions_expected_px=" + expected_px},
        100);
  };
  const double free = error_px("0");
  EXPECT_GT(free, 0.8);
  EXPECT_LT(error_px("0.5"), 0.15 * free);
}

/// Each goes four times as far as it should, and would be as far off on the other side.
TEST(PositionSteps, GetShorterWhereTheySwing) {
  const testing::SharedFolder folder("positions_swing");
  EXPECT_LE(position_error_px(folder,
                              {"simulation.position_error_px=0.5", "refine.positions_step=4"}, 100),
            0.1);
}

const std::string dense_atoms = testing::small_beam + R"(
[data]
file = "scan.h5"
[solver]
method = "rpie"
[simulation]
object = "atoms"
n_positions = 81
step_m = 60e-9
detector_shape = [32, 32]
counts_per_pattern = 1e7
seed = 0
)";

/// A fifth of them goes astray, most the same way again from where the scan has them (1.1 px rms).
TEST(LostPositions, StartAnewWhereTheirPatternsFit) {
  const testing::SharedFolder folder("positions_far");
  EXPECT_LE(position_error_px(folder,
                              {"solver.epochs=150", "refine.positions_step=1",
                               "simulation.position_error_px=2.5"},
                              150, dense_atoms),
            0.2);
}

/// Which keep the waves of all positions, windows where they were, while these move. One position
/// goes astray; waves that go on when it is put elsewhere leave it lost (`dm`: 0.3 px rms).
TEST(ProjectionMethods, FindPositionsThatAreAPixelAndAHalfOff) {
  for (const char* method : {"dm", "raar"}) {
    const testing::SharedFolder folder(std::string("positions_") + method);
    EXPECT_LE(position_error_px(
                  folder,
                  {std::string("solver.method=") + method, "solver.epochs=150", "simulation.seed=9",
                   "refine.positions_step=1", "simulation.position_error_px=1.5"},
                  150, dense_atoms),
              0.1)
        << method;
  }
}

const std::string near_field = testing::near_beam + R"(
[data]
file = "scan.h5"
[solver]
method = "rpie"
epochs = 70
[refine]
positions_from_epoch = 0
[simulation]
object = "atoms"
n_positions = 36
step_m = 0.8e-6
detector_shape = [32, 32]
counts_per_pattern = 1e6
position_error_px = 1
)";

/// A stretched scan in a more curved beam explains the patterns nearly as well.
TEST(NearField, KeepsTheScansStretch) {
  const testing::SharedFolder folder("positions_near");
  const deck::Deck deck = testing::parsed(folder.path(), {}, near_field);
  simulation::simulate(deck, world(), Log(false));
  testing::compared_with_truth(deck, 70);
  const std::vector<double> given = io::File::open(deck.data.file).read_doubles("positions_m");
  const std::vector<double> moved =
      io::File::open(deck.output.file).read_doubles("parameters/displacement_px");
  ASSERT_EQ(moved.size(), given.size());
  double along = 0;    // displacement . position
  double squares = 0;  // |displacement|^2
  double extent = 0;   // |position|^2
  for (std::size_t axis : {0, 1}) {
    double middle = 0;
    for (std::size_t i = axis; i < given.size(); i += 2) middle += given[i] / 36 / 200e-9;
    for (std::size_t i = axis; i < given.size(); i += 2) {
      const double from_middle = given[i] / 200e-9 - middle;
      along += moved[i] * from_middle;
      squares += moved[i] * moved[i];
      extent += from_middle * from_middle;
    }
  }
  EXPECT_NEAR(along / extent, 0, 1e-6);
  EXPECT_GT(std::sqrt(squares / 36), 0.5) << "positions were found";
}

}  // namespace
}  // namespace tessera::run

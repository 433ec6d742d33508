// Simulated recovery: what a model or refinement is for comes out right, and not without it.
// Full-length decks with the same models are in examples/, their numbers in
// docs/methods/recovery.md.

#include <iostream>

#include <gtest/gtest.h>

#include "tessera/io/hdf5.hpp"

#include "simulation/simulation.hpp"
#include "support/compared_with_truth.hpp"
#include "support/deck_text.hpp"

namespace tessera::run {
namespace {

using testing::atoms_deck;
using testing::world;
using Overrides = std::vector<std::string>;

const std::string near_field = testing::near_beam + R"(
[data]
file = "scan.h5"
[solver]
method = "lsqml"
epochs = 100
batch_size = 10
object_step = 1.0
probe_step = 1.0
full_step_fraction = 0.7
[simulation]
object = "atoms"
n_positions = 100
step_m = 0.8e-6
jitter = 0.0
detector_shape = [48, 48]
counts_per_pattern = 1e8
)";

/// Object pixels of 25 pm, a depth of field wavelength / semi_angle^2 of 1.7 nm. A beam's edge
/// moves by semi_angle times the distance of the slices against the axis: 5 pixels in 2.5 nm.
constexpr const char* electrons = R"(
[data]
file = "scan.h5"
[experiment]
voltage_V = 80e3
detector_pixel_rad = 3.48e-3
[probe]
initial = "aperture"
semi_angle_rad = 50e-3
defocus_m = 1.5e-9
n_modes = 6
[solver]
method = "lsqml"
batch_size = 16
object_step = 1.0
probe_step = 1.0
full_step_fraction = 0.7
[simulation]
object = "atoms"
phase_rad = 0.4
absorption = 0.02
n_positions = 64
step_m = 0.75e-10
detector_shape = [48, 48]
counts_per_pattern = 1e7
)";

constexpr const char* crystal = R"(
[data]
file = "scan.h5"
[experiment]
voltage_V = 300e3
detector_pixel_rad = 1.641e-3
[probe]
initial = "aperture"
semi_angle_rad = 25e-3
defocus_m = 5e-9
n_modes = 2
[object]
n_slices = 8
slice_distances_m = [1.1e-9, 1.4e-9, 1.4e-9, 1.4e-9, 1.4e-9, 1.4e-9, 1.1e-9]
[solver]
method = "ml"
epochs = 30
noise = "poisson"
[constraints]
object_amplitude_from_epoch = 0
object_amplitude = [0.98, 1.02]
object_positive_phase_from_epoch = 0
[simulation]
object = "perovskite"
phase_rad = 0.6
absorption = 0.0
n_dopants = 3
n_positions = 144
step_m = 0.8e-10
detector_shape = [48, 48]
counts_per_pattern = 6400
)";

constexpr const char* strong_slices = R"(
[data]
file = "scan.h5"
[experiment]
energy_eV = 8000.0
distance_m = 1.0
detector_pixel_m = 133e-6
[probe]
initial = "aperture"
semi_angle_rad = 1.2e-3
defocus_m = 200e-6
[object]
n_slices = 3
slice_thickness_m = 20e-6
[solver]
epochs = 40
[simulation]
object = "cells"
phase_rad = 1.0
n_positions = 64
step_m = 0.1e-6
detector_shape = [48, 48]
counts_per_pattern = 1e6
)";

Overrides joined(Overrides first, const Overrides& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// The scan of the deck, reconstructed as the deck with `further` overrides says, against its
/// truth.
analysis::Comparison recovered(const testing::SharedFolder& folder, const std::string& toml,
                               const Overrides& overrides, const Overrides& further = {}) {
  simulation::simulate(testing::parsed(folder.path(), overrides, toml), world(), Log(false));
  const deck::Deck deck = testing::parsed(folder.path(), joined(overrides, further), toml);
  return testing::compared_with_truth(deck, deck.solvers.front().epochs);
}

struct Defect {
  const char* name;
  std::string toml;
  Overrides scan;     ///< of the sound scan and of the one with the defect
  Overrides defect;   ///< what the simulation has
  Overrides without;  ///< the reconstruction that knows nothing of it
  Overrides with;
};

const std::vector<Defect> defects{
    // Bolder weights let every position's own probe take noise that is the object's.
    {"drifting_probe",
     atoms_deck,
     {"solver.object_alpha=1"},
     {"simulation.probe_drift=0.2"},
     {},
     {"probe.opr_modes=2"}},
    // Counts of the background have noise of their own, which no remedy takes away: with the exact
    // background given, the object error is as large.
    {"background",
     atoms_deck,
     {"simulation.counts_per_pattern=1e6", "simulation.detector_shape=[64, 64]",
      "experiment.detector_pixel_m=100e-6", "simulation.n_positions=144", "solver.batch_size=16",
      "solver.epochs=100"},
     {"simulation.background_fraction=0.17"},
     {},
     {"refine.background_from_epoch=5"}},
    {"saturation", atoms_deck, {}, {"simulation.saturation_fraction=0.03"}, {}, {"saturation"}},
    {"fly_scan",
     atoms_deck,
     {},
     {"experiment.fly_sub_positions=4", "experiment.fly_travel_m=[0, 120e-9]"},
     {"experiment.fly_sub_positions=1", "experiment.fly_travel_m=[]"},
     {}},
    // Four whole pixels a step against any fraction of a pixel.
    {"near_field", near_field, {}, {"simulation.jitter=0.2"}, {"data.subpixel=false"}, {}},
};

void PrintTo(const Defect& defect, std::ostream* out) {
  *out << defect.name;
}

class Recovery : public ::testing::TestWithParam<Defect> {};
INSTANTIATE_TEST_SUITE_P(Defects, Recovery, ::testing::ValuesIn(defects),
                         [](const auto& tested) { return std::string(tested.param.name); });

/// The level at which the simulation clipped, in place of the word.
Overrides with_level(Overrides overrides, const testing::SharedFolder& folder) {
  for (std::string& word : overrides)
    if (word == "saturation") {
      const io::File file = io::File::open((folder.path() / "scan.h5").string());
      word = text("data.saturation_counts=",
                  file.number_attribute("/", "saturation_counts").value_or(0));
    }
  return overrides;
}

TEST_P(Recovery, ObjectErrorIsAtMostTwiceThatOfASoundScanAndFiveTimesWithoutTheRemedy) {
  const Defect& defect = GetParam();
  const testing::SharedFolder folder(std::string("recovery_") + defect.name);
  const Overrides scan = joined(defect.scan, defect.defect);
  const double sound = recovered(folder, defect.toml, defect.scan).after.object;
  const double without = recovered(folder, defect.toml, scan, defect.without).after.object;
  const double with =
      recovered(folder, defect.toml, scan, with_level(defect.with, folder)).after.object;
  std::cout << defect.name << ": object error " << sound << " without the defect, "
            << without / sound << " times as much without the remedy, " << with / sound
            << " times with it\n";
  EXPECT_LT(sound, 0.02);
  EXPECT_LE(with, 2 * sound);
  EXPECT_GE(without, 5 * sound);
}

struct Slices {
  int n;
  double distance_m;
  int epochs;
};

class SliceRecovery : public ::testing::TestWithParam<Slices> {};
INSTANTIATE_TEST_SUITE_P(Atoms, SliceRecovery,
                         ::testing::Values(Slices{2, 6e-9, 60}, Slices{4, 3.5e-9, 80}),
                         [](const auto& tested) { return text(tested.param.n, "_slices"); });

TEST_P(SliceRecovery, EverySliceIsResolvedAndShowsNoGhost) {
  const testing::SharedFolder folder("slices");
  const analysis::Comparison comparison =
      recovered(folder, electrons,
                {text("object.n_slices=", GetParam().n),
                 text("object.slice_thickness_m=", GetParam().distance_m),
                 text("solver.epochs=", GetParam().epochs)});
  ASSERT_EQ(comparison.slices.size(), static_cast<std::size_t>(GetParam().n));
  for (const analysis::SliceComparison& slice : comparison.slices) {
    std::cout << "1 bit to " << slice.one_bit_fraction << " of Nyquist, strongest ghost "
              << slice.cross_talk << "\n";
    EXPECT_GE(slice.one_bit_fraction, 0.5);
    EXPECT_LE(slice.cross_talk, 0.05);
  }
}

class StrongSlices : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Pie, StrongSlices, ::testing::Values("epie", "rpie", "mpie"),
                         [](const auto& tested) { return std::string(tested.param); });

/// All slices see much the same of a residual: together they must not ask for it several times.
TEST_P(StrongSlices, TakeAShareOfTheStepEach) {
  const testing::SharedFolder folder("strong_slices");
  const deck::Deck deck =
      testing::parsed(folder.path(), {text("solver.method=\"", GetParam(), "\"")}, strong_slices);
  simulation::simulate(deck, world(), Log(false));
  run::Run run(deck, world(), Log(false));
  for (int epoch = 0; epoch < 40; ++epoch) run.run_epoch();
  EXPECT_LT(run.measure().error, 0.003);
}

/// 1e4 electrons per square Angstrom, partly coherent, slices at uneven distances: the bar of
/// docs/methods/recovery.md, smaller.
TEST(ThickCrystal, ColumnsAndDopantsComeBack) {
  const testing::SharedFolder folder("crystal");
  const analysis::Comparison comparison = recovered(folder, crystal, {});
  ASSERT_TRUE(comparison.columns.has_value());
  const analysis::ColumnComparison& columns = *comparison.columns;
  std::cout << columns.n_columns << " columns, " << columns.rms_px << " px rms; "
            << columns.n_dopants << " dopants, FWHM " << columns.depth_fwhm_m * 1e9 << " nm, "
            << columns.depth_rms_m * 1e9 << " nm from their slices\n";
  EXPECT_GE(columns.n_columns, 12);
  EXPECT_LE(columns.rms_px, 0.15);
  EXPECT_GE(columns.n_dopants, 2);
  constexpr double depth_of_field_m = 1.9687e-12 / (25e-3 * 25e-3);
  EXPECT_LE(columns.depth_fwhm_m, 1.3 * depth_of_field_m);
  EXPECT_LE(columns.depth_rms_m, 1e-9);
}

}  // namespace
}  // namespace tessera::run

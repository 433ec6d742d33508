// Epochs of difference map and RAAR against their operators in plain double-precision loops.

#include <algorithm>

#include <gtest/gtest.h>

#include "projection_reference.hpp"
#include "solvers/rank_setup.hpp"
#include "support/small_scan.hpp"
#include "support/world.hpp"

namespace tessera::solvers::projection_solver_tests {
namespace {

using tessera::testing::world;

constexpr Shape2 small_window{8, 8};
constexpr Shape2 larger_window{32, 32};

constexpr int n_epochs = 4;

/// Everything that a solver needs of a run.
struct Reconstruction {
  Unknowns unknowns;
  Box all;
  RankSetup rank;
  std::vector<int> positions{0, 1, 2, 3};
  decomposition::NearWindows near;
  Sweep sweep;
  ProjectionSolver solver;

  /// @param model what is unusual of it
  /// @param sampled empty: all positions
  Reconstruction(const SmallScan& scan, const settings::Projection& options,
                 int probe_start_epoch = 0, physics::ModelOptions model = {},
                 const std::vector<bool>& sampled = {})
      : unknowns{tessera::testing::on_device(scan.object), tessera::testing::on_device(scan.probe)},
        all(Box::at({0, 0}, scan.object.shape())),
        rank(halo::make_transport("auto", world()), {all, all, {}}, 3, scan.tile, {},
             in_chunks_of_three(model, scan.window)),
        near{scan.window, positions, scan.corner, std::vector<int>(n_positions)},
        sweep(rank.make_sweep({positions, scan.corner, 0, decomposition::BatchOrder::spread, 1},
                              {.positions = positions,
                               .on_border = std::vector<bool>(n_positions, false),
                               .subpixel = scan.subpixel,
                               .near = near,
                               .sampled = sampled})),
        solver({.epochs = n_epochs,
                .probe_start_epoch = probe_start_epoch,
                .orthogonalise_every = 0,
                .own = options},
               unknowns, rank.model, {all, all}) {}

  static physics::ModelOptions in_chunks_of_three(physics::ModelOptions model, Shape2 window) {
    model.n_modes = n_modes;
    model.chunk_size = 3;
    model.max_slots = 3;
    model.fixed_order = window == small_window;
    model.planning = fft::Planning::reproducible;
    return model;
  }

  /// The running error.
  double run_epoch(int epoch) {
    solver.start_epoch({}, epoch);
    for (const Batch& batch : sweep.start_epoch({}, epoch))
      solver.run_batch({}, sweep, batch, epoch);
    solver.finish_epoch({}, sweep, epoch);
    const device::DeviceView<double*> sums("sums", physics::FigureSums::n_sums);
    solver.take_sums({}, sums);
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sums);
    return host(physics::FigureSums::squared_difference) / host(physics::FigureSums::intensity);
  }
};

constexpr double tolerance = std::max(30 * tessera::testing::rounding, 1e-10);
struct Case {
  const char* name;
  settings::Projection options = {};
  bool subpixel = true;
  Shape2 window = small_window;  ///< larger ones go through the fused kernels where there are
  int probe_start_epoch = 0;
  int n_settling = 0;  ///< of the epochs
  double dark_amplitude = 0;
  std::vector<bool> sampled = {};  ///< empty: all positions
};

class ProjectionSolverTest : public ::testing::TestWithParam<Case> {
 protected:
  SmallScan scan_ = tessera::testing::make_small_scan(GetParam().window, n_modes, n_positions,
                                                      GetParam().subpixel, 31);
  settings::Projection options() const {
    settings::Projection options = GetParam().options;
    options.settle_fraction = static_cast<double>(GetParam().n_settling) / n_epochs;
    return options;
  }
  static physics::ModelOptions model() {
    physics::ModelOptions model;
    model.dark_amplitude = std::max(model.dark_amplitude, GetParam().dark_amplitude);
    return model;
  }
  /// That the probe is found from in `epoch`.
  static std::vector<bool> explained(int epoch) {
    const std::vector<bool>& sampled = GetParam().sampled;
    return sampled.empty() || settles(epoch) ? std::vector<bool>(n_positions, true) : sampled;
  }
  static bool settles(int epoch) { return epoch >= n_epochs - GetParam().n_settling; }
  void expect_same(const Reconstruction& run) const {
    EXPECT_LT(tessera::testing::relative_difference(tessera::testing::on_host(run.unknowns.object),
                                                    scan_.object),
              tolerance);
    EXPECT_LT(tessera::testing::relative_difference(tessera::testing::on_host(run.unknowns.probe),
                                                    scan_.probe),
              tolerance);
  }
};

class DifferenceMap : public ProjectionSolverTest {};
class Raar : public ProjectionSolverTest {};

TEST_P(DifferenceMap, EpochsAreTheMap) {
  const settings::Projection options = this->options();
  const int probe_start_epoch = GetParam().probe_start_epoch;
  Reconstruction run(scan_, options, probe_start_epoch, model(), GetParam().sampled);
  Reference reference{scan_, options, GetParam().dark_amplitude};
  std::vector<WaveStack> psi = reference.exit_waves();
  for (int epoch = 0; epoch < n_epochs; ++epoch) {
    const double error = reference.error();
    reference.explained = explained(epoch);
    if (settles(epoch)) reference.distance_bound = reference.least_bound;
    for (int j = 0; j < n_positions; ++j) {
      const WaveStack overlapping = reference.exit_waves(j);
      if (settles(epoch)) {
        psi[j] = reference.with_measured_amplitudes(overlapping, j);
        continue;
      }
      const WaveStack measured =
          reference.with_measured_amplitudes(reflected(overlapping, psi[j]), j);
      psi[j] = combined(1, psi[j], 1, combined(1, measured, -1, overlapping));
    }
    reference.find_object_and_probe(psi, epoch >= probe_start_epoch);
    reference.widen_bound();
    EXPECT_NEAR(run.run_epoch(epoch) / error, 1, tolerance) << "epoch " << epoch;
    expect_same(run);
  }
}

TEST_P(Raar, EpochsAreTheMap) {
  const settings::Projection options = this->options();
  const int probe_start_epoch = GetParam().probe_start_epoch;
  Reconstruction run(scan_, options, probe_start_epoch, model(), GetParam().sampled);
  Reference reference{scan_, options, GetParam().dark_amplitude};
  std::vector<WaveStack> psi = reference.exit_waves();
  std::vector<WaveStack> measured = psi;    // P_M psi
  std::vector<WaveStack> reflection = psi;  // R_M psi
  for (int epoch = 0; epoch < n_epochs; ++epoch) {
    const double error = reference.error();
    reference.explained = explained(epoch);
    for (int j = 0; j < n_positions; ++j) {
      if (settles(epoch)) {
        reflection[j] = reference.with_measured_amplitudes(reference.exit_waves(j), j);
        continue;
      }
      if (epoch > 0) {
        // From half way on to 1/2 where projections begin to alternate.
        const double part = epoch / double(n_epochs - GetParam().n_settling);
        const double fall = GetParam().n_settling > 0 ? std::clamp(2 * part - 1, 0.0, 1.0) : 0;
        const double beta = options.raar_beta + fall * (0.5 - options.raar_beta);
        const WaveStack twice = reflected(reference.exit_waves(j), reflection[j]);
        psi[j] = combined(beta / 2, combined(1, twice, 1, psi[j]), 1 - beta, measured[j]);
      }
      measured[j] = reference.with_measured_amplitudes(psi[j], j);
      reflection[j] = reflected(measured[j], psi[j]);
    }
    reference.find_object_and_probe(reflection, epoch >= probe_start_epoch);
    EXPECT_NEAR(run.run_epoch(epoch) / error, 1, tolerance) << "epoch " << epoch;
    expect_same(run);
  }
}

constexpr double dark = 2;  ///< than which a third of the pixels are darker
constexpr settings::ProjectionMap raar = settings::ProjectionMap::raar;
const std::vector<bool> some{true, false, true, false};
const auto name_of = [](const auto& tested) { return std::string(tested.param.name); };

INSTANTIATE_TEST_SUITE_P(
    Options, DifferenceMap,
    ::testing::Values(Case{"AsItComes", {}, false}, Case{"BetweenPixels", {}},
                      Case{"AtLeastSoFar", {.fourier_relaxation = 1}},
                      Case{"ProbeStartsLater", {}, true, small_window, 1},
                      Case{"Settles", {}, true, small_window, 0, 1},
                      Case{"Larger", {}, false, larger_window},
                      Case{"LargerBetweenPixels", {}, true, larger_window},
                      Case{"LargerSettles", {}, true, larger_window, 0, 1},
                      Case{"OfASample", {}, true, small_window, 0, 1, 0, some},
                      Case{"LargerOfASample", {}, true, larger_window, 0, 1, 0, some}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Options, Raar,
    ::testing::Values(Case{"AsItComes", {.map = raar}, false}, Case{"BetweenPixels", {.map = raar}},
                      Case{"OtherBeta", {.map = raar, .raar_beta = 0.9}},
                      Case{"Relaxed", {.map = raar, .fourier_relaxation = 2}},
                      Case{"SparesTheDark", {.map = raar}, true, small_window, 0, 0, dark},
                      Case{"SparesTheDarkRelaxed",
                           {.map = raar, .fourier_relaxation = 2},
                           true,
                           small_window,
                           0,
                           0,
                           dark},
                      Case{"LargerSparesTheDark", {.map = raar}, true, larger_window, 0, 0, dark},
                      Case{"ProbeStartsLater", {.map = raar}, true, small_window, 1},
                      Case{"Settles", {.map = raar}, true, small_window, 0, 1},
                      Case{"OfASample", {.map = raar}, true, small_window, 0, 1, 0, some},
                      Case{"LargerOfASample", {.map = raar}, true, larger_window, 0, 1, 0, some},
                      Case{"Larger", {.map = raar}, false, larger_window},
                      Case{
                          "LargerOtherBeta", {.map = raar, .raar_beta = 0.9}, true, larger_window}),
    name_of);

TEST(FourierRelaxation, LeavesNearPatternsAndBringsOthersToTheBound) {
  SmallScan scan = tessera::testing::make_small_scan(small_window, n_modes, n_positions, true, 31);
  const Reference exact{scan, {}};
  std::vector<double> distances;
  distances.reserve(n_positions);
  for (int j = 0; j < n_positions; ++j)
    distances.push_back(Reference::squared_norm(
        exact.difference(tessera::testing::dft(exact.exit_waves(j), -1), j)));
  std::ranges::sort(distances);
  const double bound = (distances[1] + distances[2]) / 2;
  const settings::Projection options{.fourier_relaxation = 2 * std::sqrt(bound / power(scan.probe)),
                                     .settle_fraction = 0};
  Reconstruction run(scan, options);
  Reference reference{scan, options};
  std::vector<WaveStack> psi = reference.exit_waves();
  for (int j = 0; j < n_positions; ++j) psi[j] = reference.with_measured_amplitudes(psi[j], j);
  EXPECT_EQ(reference.n_within_bound, 2);
  EXPECT_EQ(reference.n_beyond_bound, 2);
  reference.find_object_and_probe(psi, true);
  run.run_epoch(0);
  EXPECT_LT(tessera::testing::relative_difference(tessera::testing::on_host(run.unknowns.object),
                                                  scan.object),
            tolerance);
}

/// Where no pixel is trusted all waves fulfil the modulus constraint, and those of object and probe
/// both: nothing moves, wherever between pixels the positions lie.
TEST(WavesThatObjectAndProbeExplain, MoveNeither) {
  const physics::ModelOptions far;
  const physics::ModelOptions near{.propagation = physics::Propagation::fresnel,
                                   .wavelength_m = 1e-10,
                                   .pixel_m = 1e-7,
                                   .distance_m = 1e-3};
  for (const settings::ProjectionMap map : {settings::ProjectionMap::difference_map, raar})
    for (const physics::ModelOptions& model : {far, near})
      for (const Shape2 window : {small_window, larger_window}) {
        const SmallScan scan =
            tessera::testing::make_small_scan(window, n_modes, n_positions, true, 31);
        Kokkos::deep_copy(scan.tile.valid_pixels, Real(0));
        Reconstruction run(scan, {.map = map}, 0, model);
        for (int epoch = 0; epoch < n_epochs; ++epoch) run.run_epoch(epoch);
        const auto moved = [](const auto& now, const WaveStack& before) {
          return tessera::testing::relative_difference(tessera::testing::on_host(now), before);
        };
        EXPECT_LT(moved(run.unknowns.object, scan.object), tolerance);
        EXPECT_LT(moved(run.unknowns.probe, scan.probe), tolerance);
      }
}

/// psi = P_O P_M psi: of the object alone, which starts in the range of P_O. RAAR's object is that
/// of R_M psi = 2 P_M psi - psi, hence half way from there to the one before.
TEST(RaarAtBetaOneHalf, IsAlternatingProjections) {
  SmallScan scan = tessera::testing::make_small_scan(small_window, n_modes, n_positions, true, 31);
  const settings::Projection options{
      .map = raar, .fourier_relaxation = 0, .raar_beta = 0.5, .settle_fraction = 0};
  Reconstruction run(scan, options, n_epochs);
  Reference reference{scan, options};
  for (int epoch = 0; epoch < n_epochs; ++epoch) {
    const WaveStack before = scan.object;
    std::vector<WaveStack> psi = reference.exit_waves();
    for (int j = 0; j < n_positions; ++j) psi[j] = reference.with_measured_amplitudes(psi[j], j);
    reference.find_object(psi);
    run.run_epoch(epoch);
    const WaveStack object =
        combined(0.5, tessera::testing::on_host(run.unknowns.object), 0.5, before);
    EXPECT_LT(tessera::testing::relative_difference(object, scan.object), tolerance)
        << "epoch " << epoch;
  }
}

}  // namespace
}  // namespace tessera::solvers::projection_solver_tests

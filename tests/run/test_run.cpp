// The run as a whole: what it holds, what it allocates, that it repeats, resumes and stops when it
// must.

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/io/save.hpp"

#include "run/run.hpp"
#include "simulation/simulation.hpp"
#include "support/allocations.hpp"
#include "support/compared_with_truth.hpp"
#include "support/deck_text.hpp"
#include "support/small_scan.hpp"

namespace tessera::run {
namespace {

using testing::world;

std::atomic<int> n_kokkos_allocations = 0;
std::string last_kokkos_allocation;
std::atomic<std::uint64_t> largest_kokkos_allocation = 0;

/// Waves and shifted probes are as many as a cache holds, whatever the tile: not what the memory
/// test is about.
void note_kokkos_allocation(Kokkos::Tools::SpaceHandle, const char* label, const void*,
                            const std::uint64_t bytes) {
  const std::string name = label;
  // Kokkos' own on GPUs, at every kernel of teams, which ask for none.
  if (name == "Kokkos::CudaSpace::TeamScratchMemory") return;
  ++n_kokkos_allocations;
  last_kokkos_allocation = name;
  if (name == "tessera::physics::waves" || name == "tessera::physics::slot_probes" ||
      name == "tessera::physics::slot_sums")
    return;
  largest_kokkos_allocation = std::max<std::uint64_t>(largest_kokkos_allocation, bytes);
}

/// Counts Kokkos allocations as long as it lives.
class WatchKokkos {
 public:
  WatchKokkos() {
    n_kokkos_allocations = 0;
    largest_kokkos_allocation = 0;
    Kokkos::Tools::Experimental::set_allocate_data_callback(note_kokkos_allocation);
  }
  ~WatchKokkos() { Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr); }
  WatchKokkos(const WatchKokkos&) = delete;
  WatchKokkos& operator=(const WatchKokkos&) = delete;
};

class RunTest : public ::testing::Test {
 protected:
  RunTest() : folder_("run") {}
  deck::Deck simulated(std::vector<std::string> overrides) const {
    const deck::Deck deck = testing::parsed(folder_.path(), std::move(overrides));
    simulation::simulate(deck, world(), Log(false));
    return deck;
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  testing::SharedFolder folder_;
};

void run_epochs(Run& run, int n) {
  for (int epoch = 0; epoch < n; ++epoch) run.run_epoch();
}

TEST_F(RunTest, AllocatesNothingAfterTheFirstEpoch) {
  for (const std::string setting : {"solver.batch_order=spread", "solver.batch_order=random",
                                    "refine.positions_method=cross_correlation"}) {
    const deck::Deck deck =
        simulated({"solver.epochs=4", "probe.n_modes=3", setting,
                   text("refine.positions_from_epoch=", setting.starts_with("refine") ? 0 : -1)});
    run::Run run(deck, world(), Log(false));
    run.run_epoch();
    const int before = testing::n_allocations();
    run_epochs(run, 2);
    const int after = testing::n_allocations();
    // On GPUs Kokkos itself makes strings at every wait.
    if (device::device_is_host) {
      EXPECT_EQ(after - before, 0) << setting;
    }
    const WatchKokkos
        watch;  // as any profiling tool, it makes kernels tell their names, which allocates
    run.run_epoch();
    EXPECT_EQ(n_kokkos_allocations, 0) << setting << ", the last: " << last_kokkos_allocation;
  }
}

TEST_F(RunTest, ARankHoldsItsGhostedBoxAndItsOwnPatternsOnly) {
  // A scan much wider than the beam, so that tiles are small against the object.
  const deck::Deck deck = simulated({"simulation.n_positions=400", "solver.epochs=1"});
  const WatchKokkos watch;
  run::Run run(deck, world(), Log(false));
  run.run_epoch();
  run.write_result(run.measure(), "finished");
  const Box& ghosted = run.scan().tile().ghosted;
  const std::uint64_t object_bytes = run.scan().grid.object.size() * sizeof(device::complex);
  const std::uint64_t tile_bytes = ghosted.area() * sizeof(device::complex);
  const std::uint64_t pattern_bytes = run.scan().tile().positions.size() * 32 * 32 * 4;
  // A GPU computes many positions at a time, more than such a small scan has.
  const std::uint64_t waves_bytes =
      device::device_is_host ? 0 : run.model().waves().size() * sizeof(device::complex);
  constexpr std::uint64_t kokkos_header_bytes = 256;
  EXPECT_LE(largest_kokkos_allocation,
            std::max({tile_bytes, pattern_bytes, waves_bytes}) + kokkos_header_bytes);
  if (world().size() >= 4) {
    EXPECT_LT(tile_bytes, object_bytes * 6 / 10);
  }
  std::array<std::int64_t, 1> held{static_cast<std::int64_t>(run.scan().tile().positions.size())};
  world().sum(std::span<std::int64_t>(held));
  EXPECT_EQ(held[0], run.scan().n_positions());
}

/// What is saved is the state at the beginning of the save, whatever the epochs do meanwhile.
TEST_F(RunTest, ASaveHoldsOneMomentWhileEpochsGoOn) {
  const deck::Deck deck =
      simulated({"probe.n_modes=2", "run.deterministic=true", "output.writers_per_host=1"});
  run::Run run(deck, world(), Log(false));
  run_epochs(run, 2);
  const auto object = testing::on_host(run.unknowns().object);
  run.begin_save(Log(false));
  std::optional<double> seconds;
  while (!seconds) {
    run.run_epoch();
    seconds = run.take_ended_save(Log(false));
  }
  const io::File saved = io::File::open(deck.output.file);
  EXPECT_EQ(saved.text_attribute("/", "status"), "running");
  EXPECT_EQ(saved.read_doubles("history/error").size(), 2u);
  const WaveStack stored = saved.read_waves("object");
  const decomposition::Tile& tile = run.scan().tile();
  const Box& owned = tile.owned;
  int n_differing = 0;
  for (int y = owned.begin.y; y < owned.end.y; ++y)
    for (int x = owned.begin.x; x < owned.end.x; ++x) {
      const auto kept = object(0, y - tile.ghosted.begin.y, x - tile.ghosted.begin.x);
      n_differing += stored(0, y, x) != kept;
    }
  EXPECT_EQ(n_differing, 0);
  EXPECT_EQ(io::soundness_of(deck.output.file, world()), io::Soundness::sound);
}

TEST_F(RunTest, DeterministicRunsRepeatBitForBit) {
  const deck::Deck deck = simulated({"run.deterministic=true", "probe.n_modes=2"});
  const auto result = [&] {
    run::Run run(deck, world(), Log(false));
    run_epochs(run, 3);
    return std::pair(testing::on_host(run.unknowns().object),
                     testing::on_host(run.unknowns().probe));
  };
  const auto first = result();
  const auto second = result();
  EXPECT_TRUE(std::equal(first.first.begin(), first.first.end(), second.first.begin()));
  EXPECT_TRUE(std::equal(first.second.begin(), first.second.end(), second.second.begin()));
}

/// The raster that was simulated, described by step and shape instead of by its positions.
TEST_F(RunTest, RasterPositionsComeFromStepAndShape) {
  const deck::Deck with_positions = simulated({"simulation.jitter=0", "solver.epochs=1"});
  run::Run expected(with_positions, world(), Log(false));
  deck::Deck raster = with_positions;
  raster.data.positions.reset();
  raster.data.raster_shape = {9, 9};
  raster.data.raster_step_m = {120e-9, 120e-9};
  run::Run run(raster, world(), Log(false));
  EXPECT_EQ(run.scan().grid.corner, expected.scan().grid.corner);
  EXPECT_NEAR(run.run_epoch().error / expected.run_epoch().error, 1, 1e-5);
  raster.data.raster_shape = {9, 8};
  EXPECT_THROW(run::Run(raster, world(), Log(false)), AgreedError);
}

/// Stop after three of six epochs, resume on about half of the ranks, compare with the run that
/// never stopped.
TEST_F(RunTest, ResumesOnAnotherRankCount) {
  const deck::Deck whole = simulated({"solver.epochs=6", "solver.batch_order=random",
                                      "run.deterministic=true", "output.file=stopped.h5"});
  deck::Deck part = whole;
  part.output.file = path("stopped.h5");
  {
    run::Run run(part, world(), Log(false));
    run_epochs(run, 3);
    run.write_result(run.measure(), "stopped by a signal");
  }
  run::Run uninterrupted(whole, world(), Log(false));
  run_epochs(uninterrupted, 6);
  const EpochFigures expected = uninterrupted.measure();

  MPI_Comm half = MPI_COMM_NULL;
  const bool takes_part = world().rank() < (world().size() + 1) / 2;
  comm::check_mpi(MPI_Comm_split(world().handle(), takes_part ? 0 : MPI_UNDEFINED, 0, &half));
  if (takes_part) {
    {
      const comm::Communicator fewer(half);
      deck::Deck resumed = whole;
      resumed.run.resume = part.output.file;
      run::Run run(resumed, fewer, Log(false));
      EXPECT_EQ(run.n_epochs(), 3);
      run_epochs(run, 3);
      EXPECT_EQ(run.history().size(), 6u);
      const double tolerance = sizeof(Real) == 4 ? 1e-5 : 1e-10;
      EXPECT_NEAR(run.measure().error / expected.error, 1, tolerance);
    }
    MPI_Comm_free(&half);
  }
}

/// Of all these views, one after another.
template <class... View>
std::vector<Real> values(const View&... views) {
  std::vector<Real> all;
  const auto add = [&](const auto& view) {
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
    all.insert(all.end(), host.data(), host.data() + host.size());
  };
  (add(views), ...);
  return all;
}

TEST_F(RunTest, NotANumberStopsTheRunAndTheLastGoodStateIsBack) {
  const deck::Deck deck =
      simulated({"refine.positions_from_epoch=0", "refine.intensity_from_epoch=0"});
  run::Run run(deck, world(), Log(false));
  run.run_epoch();
  const WaveStack good = testing::on_host(run.unknowns().object);
  const physics::Parameters& parameters = run.unknowns().parameters;
  const std::vector<Real> good_parameters = values(parameters.shift, parameters.intensity);
  run.run_epoch();  // which shows that state to be sound
  const bool breaks = world().rank() == world().size() - 1 && !run.scan().tile().owned.empty();
  if (breaks) {
    const Box& owned = run.scan().tile().owned;
    const Box& ghosted = run.scan().tile().ghosted;
    const auto pixel = Kokkos::subview(run.unknowns().object, 0,
                                       (owned.begin.y + owned.end.y) / 2 - ghosted.begin.y,
                                       (owned.begin.x + owned.end.x) / 2 - ghosted.begin.x);
    Kokkos::deep_copy(pixel, device::complex(std::numeric_limits<Real>::quiet_NaN()));
  }
  std::string message;
  ExitCode code = ExitCode::done;
  try {
    run.run_epoch();
  } catch (const AgreedError& error) {
    message = error.what();
    code = error.exit_code();
  }
  EXPECT_EQ(code, ExitCode::not_finite);
  // A pixel that no window reaches can break too, by the probe's greatest power.
  EXPECT_THAT(message, ::testing::MatchesRegex(
                           "the object at pixel \\([0-9]+, [0-9]+\\)(, under scan position "
                           "[0-9]+)? is not finite after epoch 3.*"));
  const WaveStack now = testing::on_host(run.unknowns().object);
  EXPECT_TRUE(std::equal(good.begin(), good.end(), now.begin()));
  EXPECT_EQ(values(parameters.shift, parameters.intensity), good_parameters);
}

/// Simulated scans, noise-free, against their truth with the ambiguities removed.
struct RecoveryCase {
  const char* name;
  std::vector<std::string> overrides;
  double object_tolerance;
};

class Recovery : public ::testing::TestWithParam<RecoveryCase> {};

TEST_P(Recovery, ObjectErrorIsWithinTheBound) {
  const testing::SharedFolder folder("recovery");
  std::vector<std::string> overrides{
      "solver.epochs=100",          "simulation.noise=none",   "solver.object_step=1",
      "solver.probe_step=1",        "solver.object_alpha=0.1", "solver.final_step=1",
      "simulation.n_positions=144", "simulation.step_m=90e-9", "simulation.defocus_offset_m=5e-6"};
  overrides.insert(overrides.end(), GetParam().overrides.begin(), GetParam().overrides.end());
  deck::Deck deck = testing::parsed(folder.path(), overrides);
  deck.output.file = (folder.path() / "result.h5").string();
  simulation::simulate(deck, world(), Log(false));
  EXPECT_LE(testing::compared_with_truth(deck, deck.solvers.front().epochs).after.object,
            GetParam().object_tolerance);
}

INSTANTIATE_TEST_SUITE_P(
    Scans, Recovery,
    ::testing::Values(RecoveryCase{"jittered_raster", {}, 1e-2},
                      RecoveryCase{"spiral", {"simulation.scan=fermat"}, 1e-2},
                      RecoveryCase{"mask", {"simulation.dead_pixel_fraction=0.03"}, 1e-2},
                      RecoveryCase{
                          "three_modes", {"simulation.scan=fermat", "probe.n_modes=3"}, 3e-2}),
    [](const auto& option) { return std::string(option.param.name); });

}  // namespace
}  // namespace tessera::run

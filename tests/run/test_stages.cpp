// Several solvers in turn, and positions that are held out.

#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "tessera/io/hdf5.hpp"

#include "run/run.hpp"
#include "simulation/simulation.hpp"
#include "support/deck_text.hpp"
#include "support/small_scan.hpp"

namespace tessera::run {
namespace {

using testing::world;

class StagesTest : public ::testing::Test {
 protected:
  StagesTest() : folder_("stages") {}
  /// A deterministic run whose solvers' steps stay, so that epochs do not know their number.
  deck::Deck simulated(std::vector<std::string> overrides) const {
    overrides.insert(overrides.begin(), {"run.deterministic=true", "solver.final_step=1",
                                         "simulation.dead_pixel_fraction=0"});
    const deck::Deck deck = testing::parsed(folder_.path(), std::move(overrides));
    simulation::simulate(deck, world(), Log(false));
    return deck;
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  testing::SharedFolder folder_;
};

/// The deck with `epochs.size()` solvers like its own.
deck::Deck in_stages(deck::Deck deck, const std::vector<int>& epochs) {
  deck.solvers.assign(epochs.size(), deck.solvers.front());
  for (std::size_t i = 0; i < epochs.size(); ++i) deck.solvers[i].epochs = epochs[i];
  return deck;
}

void run_to_its_end(Run& run) {
  while (!run.finished()) run.run_epoch();
}

std::vector<int> stages(const Run& run) {
  std::vector<int> found;
  for (const EpochFigures& epoch : run.history()) found.push_back(epoch.stage);
  return found;
}

bool same_bits(const WaveStack& a, const WaveStack& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

/// Whether the unknowns are the same to the last bit, on this rank.
bool same_state(const Run& a, const Run& b) {
  return same_bits(testing::on_host(a.unknowns().object), testing::on_host(b.unknowns().object)) &&
         same_bits(testing::on_host(a.unknowns().probe), testing::on_host(b.unknowns().probe));
}

TEST_F(StagesTest, TwoLikeSolversAreOneOfAllTheirEpochs) {
  for (const char* order : {"random", "spread"}) {
    const deck::Deck one =
        simulated({"solver.epochs=5", "probe.n_modes=2", text("solver.batch_order=", order)});
    run::Run whole(one, world(), Log(false));
    run_to_its_end(whole);
    const deck::Deck two = in_stages(one, {2, 3});
    run::Run parts(two, world(), Log(false));
    run_to_its_end(parts);
    EXPECT_EQ(stages(whole), (std::vector{0, 0, 0, 0, 0}));
    EXPECT_EQ(stages(parts), (std::vector{0, 0, 1, 1, 1}));
    EXPECT_TRUE(same_state(whole, parts)) << order;
    EXPECT_EQ(whole.history().back().error, parts.history().back().error) << order;
  }
}

TEST_F(StagesTest, ASolverCountsItsOwnEpochs) {
  deck::Deck deck = in_stages(simulated({"solver.orthogonalise_every=0"}), {2, 3});
  deck.solvers[1].probe_start_epoch = 2;
  deck.solvers[1].batch_size = 0;
  run::Run run(deck, world(), Log(false));
  const auto probe = [&] { return testing::on_host(run.unknowns().probe); };
  run.run_epoch();
  const WaveStack first = probe();
  run.run_epoch();
  const WaveStack second = probe();
  EXPECT_FALSE(same_bits(first, second));
  run.run_epoch();
  run.run_epoch();
  EXPECT_TRUE(same_bits(second, probe()));
  run.run_epoch();
  EXPECT_FALSE(same_bits(second, probe()));
}

TEST_F(StagesTest, ResumesInTheRightStage) {
  deck::Deck deck = in_stages(simulated({"probe.n_modes=2"}), {2, 2, 1});
  deck.solvers[1].batch_order = "random";
  deck.solvers[2].batch_size = 0;
  deck.validation.fraction = 0.1;
  run::Run whole(deck, world(), Log(false));
  run_to_its_end(whole);
  for (const int stopped_after : {1, 2, 4}) {
    deck::Deck part = deck;
    part.output.file = path("stopped.h5");
    {
      run::Run run(part, world(), Log(false));
      for (int epoch = 0; epoch < stopped_after; ++epoch) run.run_epoch();
      run.write_result(run.measure(), "stopped by a signal");
    }
    deck::Deck resumed = deck;
    resumed.run.resume = part.output.file;
    run::Run run(resumed, world(), Log(false));
    EXPECT_EQ(run.n_epochs(), stopped_after);
    run_to_its_end(run);
    EXPECT_EQ(stages(run), stages(whole));
    EXPECT_TRUE(same_state(run, whole)) << "stopped after " << stopped_after;
    for (std::size_t i = 0; i < run.history().size(); ++i)
      EXPECT_EQ(run.history()[i].validation_error, whole.history()[i].validation_error) << i;
  }
  deck::Deck shorter = in_stages(deck, {2});
  shorter.run.resume = path("stopped.h5");
  EXPECT_THROW(run::Run(shorter, world(), Log(false)), AgreedError);
}

TEST_F(StagesTest, APlateauHandsOverToTheNextSolver) {
  deck::Deck deck = in_stages(simulated({}), {20, 20});
  deck.stop.plateau_change = 1;  // whatever does not double
  deck.stop.plateau_epochs = 2;
  run::Run run(deck, world(), Log(false));
  run_to_its_end(run);
  EXPECT_EQ(stages(run), (std::vector{0, 0, 0, 1, 1, 1}));
}

struct ScanData {
  io::Extents extents;
  std::vector<double> patterns;
  std::vector<double> positions_m;
  double* pattern(int position) {
    return patterns.data() + static_cast<std::ptrdiff_t>(position) * extents[1] * extents[2];
  }
};

ScanData read_scan(const deck::Deck& deck) {
  const io::File file = io::File::open(deck.data.file);
  return {file.info(deck.data.patterns).extents, file.read_doubles(deck.data.patterns),
          file.read_doubles(*deck.data.positions)};
}

/// Rank 0 writes. Collective.
void write_scan(const ScanData& scan, const deck::Deck& deck) {
  if (world().is_root()) {
    io::File file = io::File::create(deck.data.file);
    file.write_doubles(deck.data.patterns, scan.extents, scan.patterns);
    file.write_doubles(*deck.data.positions, {scan.extents[0], 2}, scan.positions_m);
    file.close();
  }
  world().barrier();
}

TEST_F(StagesTest, HeldOutPatternsHaveNoInfluence) {
  deck::Deck deck = simulated({"validation.fraction=0.1",
                               "data.valid_pixels=", "probe.initial=aperture", "solver.epochs=3"});
  const ScanData measured = read_scan(deck);
  deck.data.file = path("copy.h5");
  write_scan(measured, deck);
  run::Run run(deck, world(), Log(false));
  const std::vector<int> held_out = run.scan().held_out;
  EXPECT_EQ(held_out.size(), 8u);
  EXPECT_EQ(run.scan().fitted().size(), 73u);
  run_to_its_end(run);

  ScanData spoilt = measured;
  for (const int position : held_out)
    for (std::int64_t r = 0; r < spoilt.extents[1] * spoilt.extents[2]; ++r)
      spoilt.pattern(position)[r] = static_cast<double>(r % 7);
  deck::Deck changed = deck;
  changed.data.file = path("spoilt.h5");
  write_scan(spoilt, changed);
  run::Run other(changed, world(), Log(false));
  EXPECT_EQ(other.scan().held_out, held_out);
  run_to_its_end(other);
  EXPECT_TRUE(same_state(run, other));
  EXPECT_EQ(run.history().back().error, other.history().back().error);
  EXPECT_GT(other.history().back().validation_error, 2 * run.history().back().validation_error);

  // Looking has no influence either.
  deck::Deck blind = deck;
  blind.validation.every_epochs = 2;
  run::Run unseen(blind, world(), Log(false));
  run_to_its_end(unseen);
  EXPECT_TRUE(same_state(run, unseen));
  EXPECT_TRUE(std::isnan(unseen.history()[0].validation_error));
  EXPECT_EQ(unseen.history()[1].validation_error, run.history()[1].validation_error);
  EXPECT_TRUE(std::isnan(unseen.history()[2].validation_error));
}

/// The errors of fitted and held-out positions, weighted by their counts, are that of all.
TEST_F(StagesTest, TheValidationErrorIsThatOfThePositionsLeftOut) {
  deck::Deck deck = simulated({"validation.fraction=0.2", "solver.epochs=2"});
  deck.output.file = path("result.h5");
  run::Run run(deck, world(), Log(false));
  run_to_its_end(run);
  const EpochFigures parts = run.measure();
  EXPECT_EQ(parts.validation_error, run.history().back().validation_error);
  run.write_result(parts, "finished");

  deck::Deck all = deck;
  all.validation.fraction = 0;
  all.object.initial = all.probe.initial = "file";
  all.object.file = all.probe.file = deck.output.file;
  const double error = run::Run(all, world(), Log(false)).measure().error;

  ScanData scan = read_scan(deck);
  const std::int64_t n_pixels = scan.extents[1] * scan.extents[2];
  const auto counts = [&](const std::vector<int>& positions) {
    double sum = 0;
    for (const int position : positions)
      for (std::int64_t r = 0; r < n_pixels; ++r) sum += scan.pattern(position)[r];
    return sum;
  };
  const double fitted = counts(run.scan().fitted());
  const double held_out = counts(run.scan().held_out);
  EXPECT_NEAR(
      (parts.error * fitted + parts.validation_error * held_out) / (error * (fitted + held_out)), 1,
      sizeof(Real) == 4 ? 1e-5 : 1e-10);
}

}  // namespace
}  // namespace tessera::run

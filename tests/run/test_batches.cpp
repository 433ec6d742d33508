// Batches by coverage: from the scan alone, written into the result, counted by the memory plan.

#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/io/hdf5.hpp"

#include "run/doubts.hpp"
#include "run/run.hpp"
#include "simulation/simulation.hpp"
#include "support/deck_text.hpp"
#include "support/device_bytes.hpp"
#include "support/same_answer.hpp"

namespace tessera::run {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::world;

class Batches : public ::testing::Test {
 protected:
  Batches() : folder_("batches") { simulation::simulate(deck({}), world(), Log(false)); }

  /// The small deck without its batch_size.
  deck::Deck deck(std::vector<std::string> overrides) const {
    overrides.insert(overrides.begin(), {"solver.batch_size=auto", "run.deterministic=true"});
    return testing::parsed(folder_.path(), std::move(overrides));
  }
  static Scan scan_of(const deck::Deck& deck) {
    return load_scan(deck, scan_source(deck), world(), Log(false));
  }
  std::string path(const char* name) const { return (folder_.path() / name).string(); }

  testing::SharedFolder folder_;
};

/// Windows of the scan's own size that its windows cover.
double covered_windows(const geometry::WindowGrid& grid) {
  std::vector<bool> covered(static_cast<std::size_t>(grid.object.size()));
  for (const Pixel& corner : grid.corner)
    for (int y = 0; y < grid.window.h; ++y)
      for (int x = 0; x < grid.window.w; ++x)
        covered[static_cast<std::size_t>(corner.y + y) * grid.object.w + corner.x + x] = true;
  return static_cast<double>(std::count(covered.begin(), covered.end(), true)) /
         static_cast<double>(grid.window.size());
}

TEST_F(Batches, AreAsLargeAsTheirCoverageOnAnyRanks) {
  for (const auto& [given, coverage] : {std::pair{"solver.batch_coverage=auto", 2.0},
                                        std::pair{"solver.batch_coverage=0.7", 0.7}}) {
    const Scan scan = scan_of(deck({given}));
    const int expected = static_cast<int>(std::ceil(coverage * covered_windows(scan.grid)));
    EXPECT_EQ(scan.batch_sizes(), std::vector{expected}) << given;
    EXPECT_EQ(scan.plan.widest_batch, expected);
  }
  EXPECT_EQ(scan_of(deck({"solver.batch_coverage=1e6"})).batch_sizes(), std::vector{81});
  EXPECT_EQ(scan_of(deck({"solver.batch_size=7"})).batch_sizes(), std::vector{7});
  EXPECT_EQ(scan_of(deck({"solver.method=dm"})).batch_sizes(), std::vector{81});
}

TEST(BatchCoverage, GrowsWithThatOfTheScan) {
  using settings::default_batch_coverage;
  EXPECT_EQ(default_batch_coverage("rpie", 20), 2);
  EXPECT_EQ(default_batch_coverage("rpie", 48), 2);
  EXPECT_EQ(default_batch_coverage("rpie", 4 * 48), 8);
  EXPECT_EQ(default_batch_coverage("lsqml", 20), 4);
  EXPECT_EQ(default_batch_coverage("lsqml", 2 * 48), 8);
  EXPECT_EQ(default_batch_coverage("lsqml", 1e4), 16);
}

TEST_F(Batches, OfCoverageGiveTheSameAnswerAsOneRank) {
  constexpr bool in_float = sizeof(Real) == 4;
  testing::expect_same_answer(deck({"solver.batch_coverage=0.7"}), 3, in_float ? 5e-5 : 1e-10,
                              in_float ? 5e-6 : 1e-10);
}

/// From a result and with the deck that it holds, which says how large the batches are.
TEST_F(Batches, GoOnAlikeAfterAResumption) {
  const deck::Deck straight = deck({"solver.epochs=6", "solver.method=lsqml"});
  run::Run whole(straight, world(), Log(false));
  while (!whole.finished()) whole.run_epoch();
  deck::Deck half = straight;
  half.output.file = path("half.h5");
  {
    run::Run run(half, world(), Log(false));
    for (int epoch = 0; epoch < 3; ++epoch) run.run_epoch();
    run.write_result(run.measure(), "stopped");
  }
  const std::string written = io::File::open(half.output.file).read_text("deck");
  EXPECT_THAT(written, HasSubstr(text("batch_size = ", whole.scan().batch_sizes().front(), '\n')));
  deck::Deck resolved = deck::parse(written, path("deck.toml"), {});
  for (deck::Deck* resumed : {&half, &resolved}) {
    resumed->run.resume = half.output.file;
    run::Run run(*resumed, world(), Log(false));
    while (!run.finished()) run.run_epoch();
    const auto bits = [](const auto& view) { return testing::on_host(view); };
    EXPECT_TRUE(std::ranges::equal(bits(run.unknowns().object), bits(whole.unknowns().object)));
    EXPECT_TRUE(std::ranges::equal(bits(run.unknowns().probe), bits(whole.unknowns().probe)));
  }
}

/// lsqml keeps the waves of a batch.
TEST_F(Batches, AreInTheMemoryPlan) {
  std::int64_t planned_before = 0;
  for (const char* coverage : {"0.2", "2", "8"}) {
    const deck::Deck asked =
        deck({"solver.method=lsqml", text("solver.batch_coverage=", coverage)});
    const testing::DeviceBytes counted;
    run::Run run(asked, world(), Log(false));
    run.run_epoch();
    const std::int64_t planned = decomposition::total_bytes(run.scan().memory.device);
    EXPECT_GE(planned, counted.peak()) << coverage;
    EXPECT_LE(planned, counted.peak() + counted.peak() / 10) << coverage;
    EXPECT_GT(planned, planned_before);
    planned_before = planned;
  }
}

/// The number that follows `word`.
std::string number_after(const std::string& words, const std::string& word) {
  const std::size_t begin = words.find(word) + word.size();
  return words.substr(begin, words.find_first_not_of("0123456789.", begin) - begin);
}

TEST_F(Batches, ThatLeaveRanksIdleAreDoubtedWithTheFigureThatDoesNot) {
  for (const char* order : {"spread", "compact"}) {
    const std::vector<std::string> given{"solver.batch_size=1", text("solver.batch_order=", order)};
    const std::vector<std::string> said = doubts_of_batches(deck(given), scan_of(deck(given)));
    if (world().size() == 1) {
      EXPECT_THAT(said, IsEmpty());
      continue;
    }
    ASSERT_EQ(said.size(), 1u);
    const long idle_percent = std::lround(100 - 100.0 / world().size());
    EXPECT_THAT(said.front(), HasSubstr(text("solver: batches of 1 positions leave ", idle_percent,
                                             " % of the ranks without one")));
    const std::string figure = number_after(said.front(), "solver.batch_size = ");
    const deck::Deck better = deck({text("solver.batch_size=", figure)});
    EXPECT_THAT(doubts_of_batches(better, scan_of(better)), IsEmpty()) << said.front();
  }
  const deck::Deck by_default = deck({});
  EXPECT_THAT(doubts_of_batches(by_default, scan_of(by_default)), IsEmpty());
}

}  // namespace
}  // namespace tessera::run

// Patterns that contradict those around them are found, named in the result and fitted no more.

#include <algorithm>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/io/hdf5.hpp"

#include "run/bad_patterns.hpp"
#include "run/doubts.hpp"
#include "run/run.hpp"
#include "simulation/simulation.hpp"
#include "support/deck_text.hpp"
#include "support/small_scan.hpp"
#include "support/spoilt_scan.hpp"

namespace tessera::run {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using testing::world;

constexpr int n_px = 32 * 32;

/// A scan of 81 patterns, and copies of it that are spoilt.
class BadPatterns : public ::testing::Test {
 protected:
  BadPatterns() : folder_("bad_patterns") { simulation::simulate(deck({}), world(), Log(false)); }

  deck::Deck deck(std::vector<std::string> overrides) const {
    overrides.insert(overrides.begin(), {"solver.epochs=110", "run.deterministic=true"});
    return testing::parsed(folder_.path(), std::move(overrides), testing::atoms_deck);
  }
  std::string path(const char* name) const { return (folder_.path() / name).string(); }

  /// @param spoil changes the counts, (81, 32, 32)
  deck::Deck spoilt(const std::function<void(std::vector<double>&)>& spoil,
                    const std::vector<std::string>& overrides = {}) const {
    deck::Deck deck = this->deck(overrides);
    testing::write_spoilt_scan(deck.data.file, path("spoilt.h5"), spoil);
    deck.data.file = path("spoilt.h5");
    return deck;
  }

  testing::SharedFolder folder_;
};

/// Read twice, almost dark, displaced on the detector, of another place.
void spoil_four(std::vector<double>& counts) {
  const auto pattern = [&](int position) { return counts.begin() + position * n_px; };
  std::copy_n(pattern(19), n_px, pattern(20));
  std::fill_n(pattern(40), n_px, 0);
  pattern(40)[n_px / 2 + 16] = 1;
  std::rotate(pattern(51), pattern(51) + 165, pattern(52));
  std::copy_n(pattern(8), n_px, pattern(68));
}

std::vector<int> run_epochs(run::Run& run, int until) {
  std::vector<int> bad;
  while (run.n_epochs() < until) {
    run.run_epoch();
    for (const int position : run.leave_out_bad_patterns()) bad.push_back(position);
  }
  return bad;
}

TEST_F(BadPatterns, AreFittedNoMore) {
  run::Run run(spoilt(spoil_four), world(), Log(false));
  EXPECT_THAT(run_epochs(run, 81), UnorderedElementsAre(20, 40, 51, 68));
  EXPECT_EQ(run.scan().n_fitted(), 77);
  const double error = run_epochs(run, 110).empty() ? run.measure().error : 0;

  const deck::Deck sound = deck({});
  run::Run of_sound(sound, world(), Log(false));
  EXPECT_THAT(run_epochs(of_sound, 110), IsEmpty());
  EXPECT_LT(error, 1.5 * of_sound.measure().error);
  const deck::Deck trusting = spoilt(spoil_four, {"data.find_bad_patterns=false"});
  run::Run of_all(trusting, world(), Log(false));
  EXPECT_THAT(run_epochs(of_all, 110), IsEmpty());
  EXPECT_GT(of_all.measure().error, 5 * error);
}

/// Whatever the number of ranks.
TEST_F(BadPatterns, AreThoseThatOneRankFinds) {
  const deck::Deck deck = spoilt(spoil_four);
  run::Run run(deck, world(), Log(false));
  const std::vector<int> bad = run_epochs(run, 12);
  std::vector<double> errors(12);
  if (world().is_root()) {
    const comm::Communicator self(MPI_COMM_SELF);
    run::Run alone(deck, self, Log(false));
    EXPECT_EQ(run_epochs(alone, 12), bad);
    std::ranges::transform(alone.history(), errors.begin(), &EpochFigures::error);
  }
  world().broadcast(std::span<double>(errors));
  for (std::size_t epoch = 0; epoch < errors.size(); ++epoch)
    EXPECT_NEAR(run.history()[epoch].error / errors[epoch], 1, 1e-3) << epoch;
}

/// A run that goes on from a result does not fit them again, and comes to the same bits.
TEST_F(BadPatterns, AreInTheResult) {
  deck::Deck deck = spoilt(spoil_four, {"output.file=" + path("result.h5")});
  run::Run straight(deck, world(), Log(false));
  const std::vector<int> bad = run_epochs(straight, 12);
  straight.write_result(straight.measure(), "stopped");
  const std::vector<double> stored = io::File::open(deck.output.file).read_doubles("bad_patterns");
  EXPECT_TRUE(std::ranges::equal(stored, bad));
  run_epochs(straight, 14);

  deck.run.resume = deck.output.file;
  run::Run resumed(deck, world(), Log(false));
  EXPECT_EQ(resumed.scan().bad, bad);
  run_epochs(resumed, 14);
  const auto bits = [](const run::Run& run) { return testing::on_host(run.unknowns().object); };
  EXPECT_TRUE(std::ranges::equal(bits(resumed), bits(straight)));
}

/// Where every third pattern is of another place nobody knows which are right.
TEST_F(BadPatterns, AreNotMany) {
  const auto spoil_third = [](std::vector<double>& counts) {
    for (int position = 0; position < 81; position += 3)
      std::rotate(counts.begin() + position * n_px, counts.begin() + position * n_px + 165,
                  counts.begin() + (position + 1) * n_px);
  };
  run::Run run(spoilt(spoil_third), world(), Log(false));
  EXPECT_THAT(run_epochs(run, 12), IsEmpty());
  EXPECT_EQ(run.scan().n_fitted(), 81);
}

TEST_F(BadPatterns, AreLookedForAgainAndAgain) {
  const auto looks = [&](const std::vector<std::string>& overrides, int n_epochs) {
    std::vector<int> after;
    for (int n = 1; n <= n_epochs; ++n)
      if (bad_patterns_are_due(deck(overrides), n, n_epochs - n)) after.push_back(n);
    return after;
  };
  EXPECT_THAT(looks({}, 100), ElementsAre(10, 20, 40, 80));
  EXPECT_THAT(looks({}, 24), ElementsAre(10));
  EXPECT_THAT(looks({}, 14), IsEmpty());
  EXPECT_THAT(looks({"refine.positions_from_epoch=5"}, 100), ElementsAre(60, 70, 90));
  EXPECT_THAT(looks({"data.find_bad_patterns=false"}, 100), IsEmpty());
}

TEST(DoubtOfPatterns, NamesTheFirstOfThemAndTheRemedy) {
  const std::string doubt = doubt_of_patterns({3, 5, 7, 9, 11, 13, 15, 17, 19});
  EXPECT_THAT(doubt, HasSubstr("9, at positions 3, 5, 7, 9, 11, 13, 15, 17 ..."));
  EXPECT_THAT(doubt, HasSubstr("data.find_bad_patterns = false"));
}

}  // namespace
}  // namespace tessera::run

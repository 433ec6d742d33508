// Results that cannot be gone on from are refused by name, on all ranks.

#include <functional>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/spoilt_file.hpp"
#include "run/resumed_deck.hpp"
#include "run/run.hpp"
#include "simulation/simulation.hpp"
#include "support/deck_text.hpp"

namespace tessera::run {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::world;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A result after two epochs that a test spoils.
class BadResult : public ::testing::Test {
 protected:
  BadResult()
      : folder_("bad_result"),
        result_((folder_.path() / "result.h5").string()),
        deck_(testing::parsed(folder_.path(), {"solver.epochs=4", "output.file=" + result_})) {
    simulation::simulate(deck_, world(), Log(false));
    run::Run run(deck_, world(), Log(false));
    for (int epoch = 0; epoch < 2; ++epoch) run.run_epoch();
    run.write_result(run.measure(), "stopped");
  }

  /// By rank 0, for all.
  void spoil(const std::function<void()>& work) const {
    if (world().is_root()) work();
    world().barrier();
  }
  void replace(const std::string& name, const std::vector<double>& values) const {
    spoil([&] { testing::replace_dataset(result_, name, values); });
  }

  std::string complaint(const deck::Deck& given) const {
    try {
      const deck::Deck deck = resumed_deck(given, world(), Log(false));
      const run::Run run(deck, world(), Log(false));
    } catch (const AgreedError& error) {
      EXPECT_EQ(error.exit_code(), ExitCode::bad_input);
      return error.what();
    }
    return "nothing";
  }
  std::string resume_complaint() const {
    deck::Deck deck = deck_;
    deck.run.resume = result_;
    return complaint(deck);
  }

  testing::SharedFolder folder_;
  std::string result_;
  deck::Deck deck_;
};

TEST_F(BadResult, ASoundOneIsTaken) {
  EXPECT_EQ(resume_complaint(), "nothing");
}

TEST_F(BadResult, AnObjectThatIsNotFinite) {
  spoil([&] { testing::set_all_bits(result_, "object"); });
  EXPECT_THAT(resume_complaint(), AllOf(HasSubstr("run.resume"), HasSubstr(result_),
                                        HasSubstr("object at pixel"), HasSubstr("not finite")));
  deck::Deck deck = deck_;
  deck.object.initial = "file";
  deck.object.file = result_;
  EXPECT_THAT(complaint(deck), AllOf(HasSubstr("object.file"), HasSubstr("not finite")));
}

TEST_F(BadResult, AWindowOutsideTheTile) {
  deck_.refine.positions.from_epoch = 0;
  std::size_t n_positions = 0;
  {
    run::Run run(deck_, world(), Log(false));
    run.run_epoch();
    run.write_result(run.measure(), "stopped");
    n_positions = static_cast<std::size_t>(run.scan().n_positions());
  }
  EXPECT_EQ(resume_complaint(), "nothing");
  const std::string name = "parameters/window_whole_px";
  for (const double corner : {1e243, 1e5, -1e5, nan}) {
    spoil([&] {
      testing::replace_rows(result_, name, 2, std::vector<double>(2 * n_positions, corner));
    });
    EXPECT_THAT(resume_complaint(), AllOf(HasSubstr(name), HasSubstr(result_))) << corner;
  }
}

TEST_F(BadResult, AHistoryThatIsShortOrCountsWrongly) {
  replace("history/r_factor", {0.5});
  EXPECT_THAT(resume_complaint(), AllOf(HasSubstr("run.resume"), HasSubstr("history/r_factor"),
                                        HasSubstr("holds 1 values")));
  replace("history/r_factor", {0.5, 0.4});
  for (const std::vector<double>& noise : {std::vector<double>{-1, 0}, {0, 4}, {nan, 0}}) {
    replace("history/noise", noise);
    EXPECT_THAT(resume_complaint(), AllOf(HasSubstr("history/noise"), HasSubstr(result_)));
  }
  for (const std::vector<double>& stages :
       {std::vector<double>{-1, 0}, {0, -3}, {1, 0}, {nan, 0}, {0, 1e300}}) {
    replace("history/stage", stages);
    EXPECT_THAT(resume_complaint(), AllOf(HasSubstr("history/stage"), HasSubstr(result_)));
  }
}

TEST_F(BadResult, PatternsLeftOutThatAreNone) {
  for (const std::vector<double>& positions :
       {std::vector<double>{-1}, {81}, {5, 5}, {7, 3}, {nan}, std::vector<double>(82, 1)}) {
    replace("bad_patterns", positions);
    EXPECT_THAT(resume_complaint(), AllOf(HasSubstr("run.resume"), HasSubstr("'bad_patterns'"),
                                          HasSubstr(result_), HasSubstr("81")));
  }
  replace("bad_patterns", {5, 80});
  EXPECT_EQ(resume_complaint(), "nothing");
}

TEST_F(BadResult, WeightsOfOneAxis) {
  replace("parameters/opr_weight", {1, 1});
  EXPECT_THAT(resume_complaint(), AllOf(HasSubstr("parameters/opr_weight"), HasSubstr(result_)));
}

TEST_F(BadResult, MoreOprModesThanThereMayBe) {
  for (const std::int64_t n_modes : {std::int64_t{17}, std::int64_t{1} << 36}) {
    spoil([&] { testing::replace_with_empty(result_, "parameters/opr_weight", 100, n_modes); });
    EXPECT_THAT(resume_complaint(),
                AllOf(HasSubstr("parameters/opr_weight"), HasSubstr(result_),
                      HasSubstr(std::to_string(n_modes)), HasSubstr("at most 16")));
  }
}

TEST_F(BadResult, AnObjectThatLiesElsewhere) {
  for (const double origin_m : {1e-2, 1e300, nan}) {
    replace("object_origin_m", {origin_m, 0});
    EXPECT_THAT(resume_complaint(), AllOf(HasSubstr("run.resume"), HasSubstr(result_),
                                          HasSubstr("object.initial = 'ones'")));
  }
}

}  // namespace
}  // namespace tessera::run

// Patterns on the device, in host memory or in the file: the same answer to the last bit, nothing
// allocated on the way, and an error when the file fails.
#include <array>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/memory.hpp"
#include "run/run.hpp"
#include "simulation/simulation.hpp"
#include "support/allocations.hpp"
#include "support/deck_text.hpp"
#include "support/small_scan.hpp"

namespace tessera::run {
namespace {

using decomposition::PatternsIn;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::world;

std::int64_t max_of_all_ranks(std::int64_t bytes) {
  std::array<double, 1> max{static_cast<double>(bytes)};
  world().maximum(max);
  return static_cast<std::int64_t>(max[0]);
}

class Streaming : public ::testing::TestWithParam<const char*> {
 protected:
  Streaming() : folder_("streaming") {
    deck_ = testing::parsed(folder_.path(),
                            {"solver.epochs=3", "run.deterministic=true", "probe.n_modes=2",
                             "simulation.n_positions=300", "solver.batch_size=12",
                             "validation.fraction=0.1", text("solver.batch_order=", GetParam())});
    // Its positions come in another order.
    deck_.solvers.push_back(deck_.solvers.front());
    deck_.solvers.front().epochs = 2;
    deck_.solvers.back().epochs = 1;
    deck_.solvers.back().batch_size = 9;
    deck_.solvers.back().batch_order = GetParam() == std::string("spread") ? "random" : "spread";
    // Its line searches visit a sample. On a GPU so small a scan is one chunk, and none would
    // stream.
    deck_.solvers.push_back(device::device_is_host ? deck::Solver::of("ml") : deck_.solvers.back());
    deck_.solvers.back().epochs = 1;
    if (device::device_is_host) deck_.solvers.back().batch_size = 0;
    deck_.solvers.back().batch_order = GetParam();
    simulation::simulate(deck_, world(), Log(false));
    const run::Run run(deck_, world(), Log(false));
    needs_ = memory_needs(deck_, run.scan(), run.scan().tiling, world().rank(),
                          PlannedBatches(run.scan()));
  }

  /// The deck with limits that just let the patterns be in `place`, on the rank that needs most.
  deck::Deck with_patterns_in(PatternsIn place) const {
    deck::Deck deck = deck_;
    if (place == PatternsIn::device) return deck;
    const decomposition::MemoryPlan plan = plan_memory(needs_, place);
    const std::int64_t on_device = max_of_all_ranks(total_bytes(plan.device));
    const std::int64_t host = max_of_all_ranks(
        total_bytes(plan.host) + (device::device_is_host ? total_bytes(plan.device) : 0));
    deck.run.device_memory_bytes = static_cast<double>(on_device);
    deck.run.host_memory_bytes = static_cast<double>(host);
    return deck;
  }

  testing::SharedFolder folder_;
  deck::Deck deck_;
  decomposition::MemoryNeeds needs_;
};

INSTANTIATE_TEST_SUITE_P(Order, Streaming, ::testing::Values("spread", "random", "compact"),
                         [](const auto& test) { return std::string(test.param); });

struct Answer {
  WaveStack object;
  WaveStack probe;
  EpochFigures last;
  EpochFigures final_figures;
};

void expect_same_bits(const Answer& a, const Answer& b) {
  EXPECT_TRUE(std::equal(a.object.begin(), a.object.end(), b.object.begin(), b.object.end()));
  EXPECT_TRUE(std::equal(a.probe.begin(), a.probe.end(), b.probe.begin(), b.probe.end()));
  EXPECT_EQ(a.last.error, b.last.error);
  EXPECT_EQ(a.last.validation_error, b.last.validation_error);
  EXPECT_EQ(a.final_figures.error, b.final_figures.error);
  EXPECT_EQ(a.final_figures.r_factor, b.final_figures.r_factor);
}

TEST_P(Streaming, GivesTheSameBitsFromEveryPlaceAndAllocatesNothing) {
  std::optional<Answer> expected;
  for (const PatternsIn place : {PatternsIn::device, PatternsIn::host_memory, PatternsIn::file}) {
    SCOPED_TRACE(static_cast<int>(place));
    const deck::Deck deck = with_patterns_in(place);
    run::Run run(deck, world(), Log(false));
    ASSERT_EQ(run.scan().memory.patterns, place);
    run.run_epoch();
    const int before = testing::n_allocations();
    run.run_epoch();
    const int after = testing::n_allocations();
    if (device::device_is_host) {
      EXPECT_EQ(after - before, 0);
    }
    run.run_epoch();
    const EpochFigures last = run.run_epoch();
    const Answer answer{testing::on_host(run.unknowns().object),
                        testing::on_host(run.unknowns().probe), last, run.measure()};
    if (expected) expect_same_bits(answer, *expected);
    expected = answer;
  }
}

TEST_P(Streaming, WithTooLittleMemoryIsRefusedWithAdvice) {
  deck::Deck deck = with_patterns_in(PatternsIn::file);
  deck.run.device_memory_bytes -= 1;
  std::string message;
  try {
    const run::Run run(deck, world(), Log(false));
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::bad_input);
    message = error.what();
  }
  EXPECT_THAT(message, AllOf(HasSubstr("[rank "), HasSubstr("device"),
                             HasSubstr("run.device_memory_bytes"), HasSubstr("ranks")));
}

/// The ranks that the message advises do have room, by the same sums over their own tiles. Of so
/// small a scan the lists of what many small batches exchange would grow faster with the ranks than
/// their tiles shrink.
TEST_P(Streaming, TheAdvisedNumberOfRanksFits) {
  for (deck::Solver& solver : deck_.solvers) solver.batch_size = 0;
  const run::Run run(deck_, world(), Log(false));
  const Scan& scan = run.scan();
  const PlannedBatches batches(scan);
  // Device bytes of the rank that needs most, its patterns wherever they take least.
  const auto needs_on = [&](int n_ranks) {
    const auto tiling =
        decomposition::make_tiling(scan.grid.object, scan.grid.window, scan.grid.corner, n_ranks);
    std::int64_t max = 0;
    for (int rank = 0; rank < n_ranks; ++rank) {
      const auto needs = memory_needs(deck_, scan, tiling, rank, batches);
      max = std::max(max, std::min(total_bytes(plan_memory(needs, PatternsIn::device).device),
                                   total_bytes(plan_memory(needs, PatternsIn::file).device)));
    }
    return max;
  };
  deck::Deck deck = deck_;
  deck.run.device_memory_bytes = static_cast<double>(needs_on(4 * world().size()));
  std::string message;
  try {
    const run::Run refused(deck, world(), Log(false));
  } catch (const AgreedError& error) {
    message = error.what();
  }
  const std::size_t at = message.find("start ");
  ASSERT_NE(at, std::string::npos) << message;
  const int advised = std::stoi(message.substr(at + 6));
  EXPECT_GT(advised, world().size());
  EXPECT_LE(needs_on(advised), needs_on(4 * world().size()));
}

}  // namespace
}  // namespace tessera::run

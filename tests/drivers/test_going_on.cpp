// `reconstruct --go-on`, which job scripts start again and again, and words of a job in a deck.

#include <algorithm>
#include <csignal>
#include <filesystem>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launch.hpp"
#include "scan_file.hpp"

namespace tessera::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class GoesOn : public ::testing::TestWithParam<int> {
 protected:
  Command command(std::vector<std::string> overrides = {}) const {
    overrides.insert(overrides.end(), {"solver.epochs=400", "run.deterministic=true", "--go-on"});
    return {GetParam(), folder_.reconstruct(overrides)};
  }
  WaveStack object(const std::string& name = "result.h5") const {
    return io::File::open(folder_.path(name)).read_waves("object");
  }
  std::size_t n_epochs() const {
    return io::File::open(folder_.result()).read_doubles("history/error").size();
  }

  const ScanFolder folder_;
};
INSTANTIATE_TEST_SUITE_P(Run, GoesOn, ::testing::Values(1, 3));

TEST_P(GoesOn, FromItsResultUntilNothingIsLeft) {
  ASSERT_EQ(run_tessera(command({"output.file=" + folder_.path("straight.h5")})).exit_code, 0);
  Job job(command());
  ASSERT_TRUE(job.prints("epoch    2/"));
  for (const pid_t rank : job.ranks()) kill(rank, SIGUSR1);
  ASSERT_EQ(job.wait().exit_code, 75);
  ASSERT_LT(n_epochs(), 400u);

  const Outcome second = run_tessera(command());
  EXPECT_EQ(second.exit_code, 0) << second.err;
  EXPECT_THAT(second.err, HasSubstr("epochs; the run goes on from there"));
  const WaveStack straight = object("straight.h5");
  const WaveStack whole = object();
  EXPECT_TRUE(std::equal(whole.data(), whole.data() + whole.size(), straight.data()));

  const auto written = std::filesystem::last_write_time(folder_.result());
  const Outcome third = run_tessera(command());
  EXPECT_EQ(third.exit_code, 0) << third.err;
  EXPECT_THAT(third.err, HasSubstr("has 400 epochs, and nothing is left to do"));
  EXPECT_EQ(std::filesystem::last_write_time(folder_.result()), written);
}

/// The scan's patterns are searched for bad ones after 10 epochs, and some are found.
TEST_P(GoesOn, WithTheSearchForBadPatternsThatWasDue) {
  ASSERT_EQ(run_tessera(command({"output.file=" + folder_.path("straight.h5")})).exit_code, 0);
  const io::File straight = io::File::open(folder_.path("straight.h5"));
  const double error = straight.read_doubles("history/error")[9];
  ASSERT_EQ(run_tessera(command({fmt::format("stop.error={:.17g}", error)})).exit_code, 0);
  ASSERT_EQ(n_epochs(), 10u);
  ASSERT_EQ(run_tessera(command()).exit_code, 0);
  const WaveStack expected = straight.read_waves("object");
  const WaveStack whole = object();
  EXPECT_TRUE(std::equal(whole.data(), whole.data() + whole.size(), expected.data()));
}

TEST_P(GoesOn, OnlyFromAResultOfTheSameDeck) {
  ASSERT_EQ(run_tessera(command({"stop.time_s=1e-9"})).exit_code, 0);
  ASSERT_EQ(n_epochs(), 1u);
  const Outcome other = run_tessera(command({"stop.time_s=1e-9", "probe.n_modes=2"}));
  EXPECT_EQ(other.exit_code, 0) << other.err;
  EXPECT_THAT(other.err,
              AllOf(HasSubstr("is not gone on from: it is of a run with another probe.n_modes"),
                    HasSubstr("it starts anew")));
  EXPECT_EQ(n_epochs(), 1u);
}

/// A save lies at output.file, and where the disk was full at the run's end, its result elsewhere.
TEST_P(GoesOn, FromTheFallbackWhereThatHasMoreEpochs) {
  const std::string fallback = "output.fallback=" + folder_.path("fallback.h5");
  ASSERT_EQ(run_tessera(command({"output.file=" + folder_.path("straight.h5")})).exit_code, 0);
  ASSERT_EQ(run_tessera(command({"stop.time_s=1e-9"})).exit_code, 0);
  ASSERT_EQ(run_tessera(command({"stop.time_s=1e-9", "run.resume=" + folder_.result(),
                                 "output.file=" + folder_.path("fallback.h5")}))
                .exit_code,
            0);
  const Outcome second = run_tessera(command({fallback}));
  EXPECT_EQ(second.exit_code, 0) << second.err;
  EXPECT_THAT(second.err, HasSubstr("fallback.h5\" has 2 epochs; the run goes on from there"));
  const WaveStack straight = object("straight.h5");
  const WaveStack whole = object();
  EXPECT_TRUE(std::equal(whole.data(), whole.data() + whole.size(), straight.data()));

  const Outcome third = run_tessera(command({fallback}));
  EXPECT_THAT(third.err, HasSubstr("result.h5\" has 400 epochs, and nothing is left to do"));
}

/// Of rank 0's environment, whatever the others have.
TEST_P(GoesOn, WordsOfTheJobStandInTheDeck) {
  const std::string set =
      "[ ${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}} = 0 ] && export SLURM_ARRAY_TASK_ID=7";
  const std::vector<std::string> words{"output.file=" + folder_.path("{SLURM_ARRAY_TASK_ID}.h5"),
                                       "solver.epochs={SLURM_ARRAY_TASK_ID}"};
  const Outcome outcome = run_tessera({GetParam(), folder_.reconstruct(words), "", set});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(io::File::open(folder_.path("7.h5")).read_doubles("history/error").size(), 7u);
  expect_error(run_tessera({GetParam(), folder_.reconstruct(words)}), 2,
               {"output.file", "{SLURM_ARRAY_TASK_ID}", "not in the environment"});
}

}  // namespace
}  // namespace tessera::testing

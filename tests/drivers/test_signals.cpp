// Ctrl-C and a scheduler's signals, and what can be read while a run is under way.

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "launch.hpp"
#include "scan_file.hpp"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;

const std::vector<std::string> endless{"solver.epochs=1000000"};

struct Signal {
  std::string name;
  int number;
  int n_ranks;
  bool to_all;  ///< or to one rank only
};

void PrintTo(const Signal& signal, std::ostream* out) {
  *out << signal.name;
}

class Signalled : public ::testing::TestWithParam<Signal> {};
INSTANTIATE_TEST_SUITE_P(Run, Signalled,
                         ::testing::Values(Signal{"CtrlC", SIGINT, 1, true},
                                           Signal{"SigtermToAll", SIGTERM, 4, true},
                                           Signal{"SigtermToOne", SIGTERM, 4, false},
                                           Signal{"Sigusr1ToAll", SIGUSR1, 4, true}),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(Signalled, StopsAfterTheEpochAndWritesItsResult) {
  const ScanFolder folder;
  Job job({GetParam().n_ranks, folder.reconstruct(endless)});
  ASSERT_TRUE(job.prints("epoch "));
  for (const pid_t rank : job.ranks()) {
    kill(rank, GetParam().number);
    if (!GetParam().to_all) break;
  }
  const Outcome outcome = job.wait();
  EXPECT_FALSE(outcome.timed_out);
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("stopped by a signal after "));

  const io::File result = io::File::open(folder.result());
  EXPECT_EQ(result.text_attribute("/", "status"), "stopped by a signal");
  const auto n_epochs = result.read_doubles("history/error").size();
  EXPECT_THAT(outcome.out, HasSubstr("after " + std::to_string(n_epochs) + " epochs"));
  EXPECT_LT(n_epochs, 1000000u);
}

/// While MPI starts and the deck is read there is nothing to lose: SIGUSR1 waits, SIGTERM ends at
/// once.
TEST(Signals, AreHeededBeforeTheRunBegins) {
  const ScanFolder folder;
  const auto exit_code_after = [&](int number, const std::string& on_usr1) {
    const std::string deck = folder.path("pipe.toml");  // opened when MPI has started
    EXPECT_EQ(mkfifo(deck.c_str(), 0600), 0);
    Job job({1, {"reconstruct", deck, "output.on_usr1=" + on_usr1}});
    std::ofstream pipe(deck);
    for (const pid_t rank : job.ranks()) kill(rank, number);
    if (number == SIGUSR1) pipe << small_deck();
    pipe.close();
    std::filesystem::remove(deck);
    return job.wait().exit_code;
  };
  EXPECT_EQ(exit_code_after(SIGTERM, "stop"), 130);
  EXPECT_EQ(exit_code_after(SIGUSR1, "stop"), 130);
  EXPECT_EQ(exit_code_after(SIGUSR1, "save"), 0);
}

/// Whether a saved state lies there before a minute has passed.
bool saves(const ScanFolder& folder) {
  for (int look = 0; look < 6000; ++look) {
    if (std::filesystem::exists(folder.result()))
      return io::File::open(folder.result()).text_attribute("/", "status") == "running";
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

class Saving : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Run, Saving, ::testing::Values(1, 3));

/// Asked for by a file, by SIGUSR1 to the last rank, by the clock.
TEST_P(Saving, GoesOn) {
  const ScanFolder folder;
  const std::string asks = folder.path("result.h5.save");
  const auto expect_saved = [&](const std::string& key, const std::function<void(Job&)>& ask) {
    Job job({GetParam(), folder.reconstruct({endless[0], key})});
    ASSERT_TRUE(job.prints("epoch ")) << key;
    ask(job);
    EXPECT_TRUE(saves(folder)) << key;
    EXPECT_FALSE(std::filesystem::exists(asks));
    for (const pid_t rank : job.ranks()) kill(rank, SIGTERM);
    const Outcome outcome = job.wait();
    EXPECT_EQ(outcome.exit_code, 130) << key << outcome.err;
    EXPECT_EQ(io::File::open(folder.result()).text_attribute("/", "status"), "stopped by a signal");
    std::filesystem::remove(folder.result());
  };
  expect_saved("output.on_usr1=stop", [&](Job&) { std::ofstream file(asks); });
  expect_saved("output.on_usr1=save", [](Job& job) { kill(job.ranks().back(), SIGUSR1); });
  expect_saved("output.save_every_minutes=0.001", [](Job&) {});
}

TEST_P(Saving, EndsBeforeSlurmDoes) {
  const ScanFolder folder;
  const auto now_s = std::chrono::duration_cast<std::chrono::seconds>(
      std::chrono::system_clock::now().time_since_epoch());
  const Outcome outcome =
      run_tessera({GetParam(), folder.reconstruct(endless), folder.path(""),
                   "export SLURM_JOB_END_TIME=" + std::to_string(now_s.count() + 12)});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const io::File result = io::File::open(folder.result());
  EXPECT_THAT(result.text_attribute("/", "status").value(),
              HasSubstr("stopped: time (the job's, SLURM_JOB_END_TIME"));
  EXPECT_GT(result.read_doubles("history/error").size(), 0u);
}

TEST(Run, IsNotLostWithTheFolderOfItsResult) {
  const ScanFolder folder;
  const std::string gone = folder.path("gone");
  std::filesystem::create_directory(gone);
  std::vector<std::string> overrides = endless;
  overrides.push_back("output.file=" + gone + "/result.h5");
  Job job({1, folder.reconstruct(overrides)});
  ASSERT_TRUE(job.prints("epoch "));
  std::filesystem::remove_all(gone);
  for (const pid_t rank : job.ranks()) kill(rank, SIGTERM);
  const Outcome outcome = job.wait();
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("was gone and is made again"));
  EXPECT_TRUE(io::File::open(gone + "/result.h5").has("object"));
}

TEST(Run, CanBeReadWhileItSavesEveryEpoch) {
  const ScanFolder folder;
  std::vector<std::string> overrides = endless;
  overrides.push_back("output.save_every_epochs=1");
  Job job({4, folder.reconstruct(overrides)});
  ASSERT_TRUE(job.prints("epoch    3/"));
  for (int look = 0; look < 20; ++look) {
    const io::File result = io::File::open(folder.result());
    EXPECT_EQ(result.text_attribute("/", "status"), "running");
    EXPECT_GE(result.read_doubles("history/error").size(), 1u);
    EXPECT_EQ(result.read_waves("probe").size(), 256u);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  for (const pid_t rank : job.ranks()) kill(rank, SIGTERM);
  EXPECT_EQ(job.wait().exit_code, 130);
}

TEST(Run, ResumesWhereASignalStoppedIt) {
  const ScanFolder folder;
  Job job({1, folder.reconstruct(endless)});
  ASSERT_TRUE(job.prints("epoch "));
  for (const pid_t rank : job.ranks()) kill(rank, SIGTERM);
  ASSERT_EQ(job.wait().exit_code, 130);
  const std::size_t done = io::File::open(folder.result()).read_doubles("history/error").size();

  const Outcome resumed =
      run_tessera({4, folder.reconstruct({"run.resume=" + folder.result(),
                                          "solver.epochs=" + std::to_string(done + 2)})});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(io::File::open(folder.result()).read_doubles("history/error").size(), done + 2);
}

}  // namespace
}  // namespace tessera::testing

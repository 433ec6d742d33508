// What goes wrong in the middle: a full disk, memory that one rank lacks, numbers that overflow.

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tessera/base/host.hpp"
#include "tessera/base/text.hpp"

#include "launch.hpp"
#include "scan_file.hpp"

namespace tessera::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string first_line(const std::string& path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return line;
}

void write_old_result(const std::string& path) {
  io::File file = io::File::create(path);
  for (const char* name : {"object", "probe"}) file.write_doubles(name, {1, 2, 2}, {1, 2, 3, 4});
  file.create_group("history");
  file.set_attribute("/", "status", "old");
  file.close();
}

/// A scan whose result needs 7.7 MB, more than the 6 MB that no file may pass. (Open MPI's shared
/// memory between ranks needs 4 MB.)
SmallScan scan_of_a_large_object() {
  SmallScan scan;
  scan.set_step(300);
  return scan;
}
constexpr rlim_t small_disk_bytes = 6'000'000;

class OnFullDisk : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Failures, OnFullDisk, ::testing::Values(1, 4));

TEST_P(OnFullDisk, TheOldResultStays) {
  const ScanFolder folder(scan_of_a_large_object());
  write_old_result(folder.result());
  // MPI's own files in shared memory are not what is limited.
  const std::string limit =
      "export OMPI_MCA_shmem=sysv; ulimit -f " + std::to_string(small_disk_bytes / 512);
  const Outcome outcome = run_tessera({GetParam(), folder.reconstruct(), folder.path(""), limit});
  expect_error(outcome, 2, {"result.h5", "cannot be written", "make room"});
  EXPECT_EQ(io::File::open(folder.result()).text_attribute("/", "status"), "old");
  EXPECT_THAT(folder.files(), ElementsAre("deck.toml", "result.h5", "scan.h5"));
}

TEST_P(OnFullDisk, TheOldResultStaysIfTheDiskFillsUpDuringTheRun) {
  const ScanFolder folder(scan_of_a_large_object());
  write_old_result(folder.result());
  Job job({GetParam(), folder.reconstruct({"solver.epochs=100000", "decomposition.timeout_s=3"})});
  ASSERT_TRUE(job.prints("epoch "));
  const rlimit small{small_disk_bytes, small_disk_bytes};
  for (const pid_t rank : job.ranks()) ASSERT_EQ(prlimit(rank, RLIMIT_FSIZE, &small, nullptr), 0);
  for (const pid_t rank : job.ranks()) kill(rank, SIGUSR1);
  expect_error(job.wait(), 2, {"result.h5", "cannot be written", "make room"});
  EXPECT_EQ(io::File::open(folder.result()).text_attribute("/", "status"), "old");
  EXPECT_THAT(folder.files(), ElementsAre("deck.toml", "result.h5", "scan.h5"));
}

/// A save on the way fails with a warning; the result waits until there is room.
TEST_P(OnFullDisk, TheEpochsAreKeptUntilThereIsRoomAgain) {
  const ScanFolder folder(scan_of_a_large_object());
  Job job({GetParam(), folder.reconstruct({"solver.epochs=100000", "decomposition.timeout_s=4"})});
  ASSERT_TRUE(job.prints("epoch "));
  const auto let_files_grow_to = [&](rlim_t n_bytes) {
    const rlimit limit{n_bytes, RLIM_INFINITY};
    for (const pid_t rank : job.ranks()) ASSERT_EQ(prlimit(rank, RLIMIT_FSIZE, &limit, nullptr), 0);
  };
  let_files_grow_to(small_disk_bytes);
  std::ofstream(folder.path("result.h5.save")) << "";
  EXPECT_TRUE(job.warns("a save failed, and the run goes on: "));
  for (const pid_t rank : job.ranks()) kill(rank, SIGTERM);
  EXPECT_FALSE(job.prints("result.h5, stopped", Seconds(1)));
  let_files_grow_to(RLIM_INFINITY);
  const Outcome outcome = job.wait();
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("make room or write elsewhere; tried again in 2 s"));
  EXPECT_GT(io::File::open(folder.result()).read_doubles("history/error").size(), 0u);
}

/// A folder that is no more, with a file of its name, can be written to as little as a full disk.
TEST_P(OnFullDisk, TheResultGoesToTheFallback) {
  const ScanFolder folder;
  const std::string gone = folder.path("gone");
  std::filesystem::create_directory(gone);
  Job job(
      {GetParam(), folder.reconstruct({"solver.epochs=100000", "output.fallback=" + folder.result(),
                                       "output.file=" + gone + "/result.h5"})});
  ASSERT_TRUE(job.prints("epoch "));
  std::filesystem::remove_all(gone);
  std::ofstream(gone) << "";
  for (const pid_t rank : job.ranks()) kill(rank, SIGTERM);
  const Outcome outcome = job.wait();
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("tessera resume \"" + folder.result() + '"'));
  const auto n_epochs = [&] {
    return io::File::open(folder.result()).read_doubles("history/error").size();
  };
  const auto n_made = n_epochs();
  const Outcome resumed =
      run_tessera({1, {"resume", folder.result(), "solver.epochs=" + std::to_string(n_made + 1)}});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(n_epochs(), n_made + 1);
}

TEST_P(OnFullDisk, ASecondRunWithTheSameOutputIsRefused) {
  const ScanFolder folder;
  Job first({GetParam(), folder.reconstruct({"solver.epochs=100000"})});
  ASSERT_TRUE(first.prints("epoch "));
  expect_error(run_tessera({GetParam(), folder.reconstruct()}), 2,
               {"result.h5", "cannot be written", "another run writes it, process "});
  for (const pid_t rank : first.ranks()) kill(rank, SIGUSR1);
  EXPECT_EQ(first.wait().exit_code, 130);
  EXPECT_GT(io::File::open(folder.result()).read_waves("object").size(), 0u);
  EXPECT_THAT(folder.files(), ElementsAre("deck.toml", "result.h5", "scan.h5"));
  EXPECT_EQ(run_tessera({GetParam(), folder.reconstruct()}).exit_code, 0);
}

/// A process that its parent has not waited for yet is a zombie, and has ended.
bool is_running(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("State:")) return line.find('Z') == line.npos;
  return false;
}

/// A rank that does not answer leaves the others inside MPI.
class StoppedRank : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Failures, StoppedRank, ::testing::Values(3));

TEST_P(StoppedRank, EndsTheJobInTimeAndIsNamed) {
  const ScanFolder folder;
  Job job({GetParam(), folder.reconstruct({"solver.epochs=1000000", "decomposition.timeout_s=2",
                                           "output.save_every_epochs=1"})});
  ASSERT_TRUE(job.prints("epoch    3/"));
  const pid_t stopped = job.ranks().back();
  kill(stopped, SIGSTOP);
  const Outcome outcome = job.wait(Seconds(2 + 10));
  EXPECT_FALSE(outcome.timed_out);
  EXPECT_NE(outcome.exit_code, 0);
  for (const std::string& words :
       {std::string("tessera: error: [rank "), host_name(),
        std::string("has made no progress for 2 s (decomposition.timeout_s) in "),
        "(process " + std::to_string(stopped) + ") is stopped (SIGSTOP"})
    EXPECT_THAT(outcome.err, HasSubstr(words));
  EXPECT_EQ(io::File::open(folder.result()).text_attribute("/", "status"), "running");
}

/// The others wait for it in MPI_Init.
TEST_P(StoppedRank, ThatNeverStartsEndsTheJob) {
  const ScanFolder folder;
  Job job({GetParam(), folder.reconstruct(), folder.path(""),
           "export TESSERA_START_TIMEOUT_S=2; [ $OMPI_COMM_WORLD_RANK$PMI_RANK = 1 ] && "
           "kill -STOP $$"});
  const Outcome outcome = job.wait(Seconds(2 + 10));
  EXPECT_FALSE(outcome.timed_out);
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("tessera: error: MPI has not started within its time"));
}

/// The ranks, done, wait for it in MPI_Finalize.
TEST_P(StoppedRank, OrLauncherIsNotWaitedForAtTheEnd) {
  const ScanFolder folder;
  Job job({GetParam(), folder.reconstruct({"solver.epochs=1000000"}), folder.path(""),
           "export TESSERA_START_TIMEOUT_S=5"});
  ASSERT_TRUE(job.prints("epoch "));
  const std::vector<pid_t> ranks = job.ranks();
  kill(job.launcher(), SIGSTOP);
  kill(ranks.back(), SIGUSR1);
  const auto run_on = [&] {
    return std::ranges::any_of(ranks, [](pid_t rank) { return is_running(rank); });
  };
  for (int look = 0; look < 3000 && run_on(); ++look) std::this_thread::sleep_for(Seconds(0.01));
  EXPECT_FALSE(run_on());
  kill(job.launcher(), SIGCONT);
  EXPECT_THAT(job.wait().err, HasSubstr("tessera: error: MPI has not ended within its time"));
  EXPECT_EQ(io::File::open(folder.result()).text_attribute("/", "status"), "stopped by a signal");
}

/// As a scheduler suspends jobs: no time passes for them. On a busy machine ranks that run may
/// stand for a second or two.
TEST_P(StoppedRank, AJobThatIsSuspendedGoesOn) {
  const ScanFolder folder;
  Job job({GetParam(), folder.reconstruct({"solver.epochs=1000000", "decomposition.timeout_s=4"})});
  ASSERT_TRUE(job.prints("epoch "));
  for (const int number : {SIGSTOP, SIGCONT}) {
    for (const pid_t rank : job.ranks()) kill(rank, number);
    std::this_thread::sleep_for(Seconds(5));
  }
  for (const pid_t rank : job.ranks()) kill(rank, SIGTERM);
  EXPECT_EQ(job.wait().exit_code, 130);
}

TEST(Output, ReplacesTheFileThatALinkNamesAndNotTheLink) {
  const ScanFolder folder;
  std::filesystem::create_directory(folder.path("elsewhere"));
  std::filesystem::create_symlink("elsewhere/kept.h5", folder.result());
  const std::string old = folder.path("elsewhere/untouched");
  std::ofstream(old) << "untouched";
  std::filesystem::create_symlink("untouched", folder.path("elsewhere/kept.h5.part"));
  // The time is over after the first epoch: the second run keeps the first one's save.
  for (int run = 0; run < 2; ++run)
    ASSERT_EQ(run_tessera({1, folder.reconstruct({"stop.time_s=1e-9"})}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(folder.result()));
  for (const char* name : {"elsewhere/kept.h5", "elsewhere/kept.h5.older"}) {
    EXPECT_FALSE(std::filesystem::is_symlink(folder.path(name)));
    EXPECT_GT(io::File::open(folder.path(name)).read_waves("object").size(), 0u) << name;
  }
  EXPECT_EQ(first_line(old), "untouched");
}

TEST(Pipes, AreRefusedAsInputAndOutput) {
  const ScanFolder folder;
  ASSERT_EQ(mkfifo(folder.path("pipe").c_str(), 0600), 0);
  for (const char* key : {"data.file", "data.mask_file", "output.file", "run.resume"})
    expect_error(run_tessera({1, folder.reconstruct({key + ("=" + folder.path("pipe"))})}), 2,
                 {"pipe\"", "is a pipe, socket or device, not a file"});
  EXPECT_TRUE(std::filesystem::is_fifo(folder.path("pipe")));
}

/// Three tiles are small; the last is 15000 x 7500 pixels, 0.9 GB for each of several arrays.
SmallScan scan_with_one_huge_tile() {
  SmallScan scan;
  const double pixel_m = small_pixel_m();
  for (int i = 0; i < 16; ++i) {
    const int far = std::max(0, i - 12);
    scan.positions_m[2 * i] = (i < 12 ? 3 * i : 100 + 5000 * far) * pixel_m;
    scan.positions_m[2 * i + 1] = (i < 12 ? 3 * (i % 4) : 2500 * far) * pixel_m;
  }
  return scan;
}

TEST(OneRankOutOfMemory, EndsTheJobWithItsMessageAndRank) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer needs more address space than any limit";
#endif
  if (TESSERA_RUNS_ON_GPUS) GTEST_SKIP() << "CUDA needs more address space than any limit";
  const ScanFolder folder(scan_with_one_huge_tile());
  const Outcome outcome =
      run_tessera({4, folder.reconstruct(), folder.path(""), "ulimit -v 2000000"});
  expect_error(outcome, 1, {"[rank 3] ", "could not allocate ", "use more ranks"});
  EXPECT_THAT(folder.files(), ElementsAre("deck.toml", "scan.h5"));
}

/// What kernels of a GPU need besides.
constexpr double chip_bytes = TESSERA_RUNS_ON_GPUS ? 2.8e6 : 0;

/// 17 MB of patterns over a small object: limits in between leave only the file.
SmallScan scan_of_many_patterns() {
  constexpr int n_repeats = 1024;
  SmallScan scan;
  const SmallScan once;
  scan.pattern_extents = {16 * n_repeats, 16, 16};
  scan.position_extents = {16 * n_repeats, 2};
  for (int i = 1; i < n_repeats; ++i) {
    scan.patterns.insert(scan.patterns.end(), once.patterns.begin(), once.patterns.end());
    for (const double value : once.positions_m)
      scan.positions_m.push_back(value + 0.01 * i * small_pixel_m());
  }
  return scan;
}

class FileCutShort : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Failures, FileCutShort, ::testing::Values(1, 4));

TEST_P(FileCutShort, EndsTheJobWithItsMessageAndTheLastResultStays) {
  const ScanFolder folder(scan_of_many_patterns());
  const bool alone = GetParam() == 1;
  Job job({GetParam(),
           folder.reconstruct(
               {"solver.epochs=100000", "solver.batch_size=1024", "output.save_every_epochs=1",
                text("run.device_memory_bytes=", chip_bytes + (alone ? 8e6 : 4e6)),
                alone ? "run.host_memory_bytes=80e6" : "run.host_memory_bytes=55e6"})});
  ASSERT_TRUE(job.prints("epoch    2/")) << job.wait(Seconds(1)).err;
  std::filesystem::resize_file(folder.scan(), std::filesystem::file_size(folder.scan()) / 2);
  const Outcome outcome = job.wait(Seconds(30));
  EXPECT_FALSE(outcome.timed_out);
  EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
  for (const char* words : {"streamed from the file", "tessera: error: [rank ", "scan.h5",
                            "cut short", "scan position "})
    EXPECT_THAT(outcome.err, HasSubstr(words));
  const io::File kept = io::File::open(folder.result());
  EXPECT_EQ(kept.text_attribute("/", "status"), "running");
  EXPECT_GT(kept.read_waves("object").size(), 0u);
}

class ThatOverflow : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Failures, ThatOverflow, ::testing::Values(1, 4));

TEST_P(ThatOverflow, NumbersStopTheRunWithItsLastGoodState) {
  if (!TESSERA_REAL_IS_FLOAT) GTEST_SKIP() << "counts of 32 bits do not overflow doubles";
  SmallScan scan;
  for (double& count : scan.patterns) count = 3e38;
  const ScanFolder folder(scan);
  const Outcome outcome = run_tessera({GetParam(), folder.reconstruct()});
  expect_error(outcome, 3, {"is not finite after epoch 1"});

  const io::File result = io::File::open(folder.result());
  EXPECT_THAT(result.text_attribute("/", "status").value(), StartsWith("stopped: "));
  EXPECT_TRUE(result.read_doubles("history/error").empty());
  for (const char* name : {"object", "probe"})
    for (const std::complex<double>& value : result.read_waves(name))
      ASSERT_TRUE(std::isfinite(value.real()) && std::isfinite(value.imag())) << name;
  EXPECT_THAT(folder.files(), ElementsAre("deck.toml", "result.h5", "scan.h5"));
}

TEST_P(ThatOverflow, ARunThatDivergesGoesBackToItsBestEpoch) {
  const ScanFolder folder;
  // Momentum takes such steps away in some 40 epochs, whatever their last bits are. Runs of
  // few epochs try no start probes: the longer ones shall not either.
  const std::vector<std::string> bold{
      "run.deterministic=true",  "solver.method=mpie",  "solver.momentum=0.9",
      "solver.object_step=1",    "solver.probe_step=1", "solver.object_alpha=5e-3",
      "solver.probe_alpha=5e-3", "solver.final_step=1", "probe.measure_curvature=false"};
  const auto outcome_of = [&](int epochs, const std::string& ratio, const std::string& file) {
    std::vector<std::string> all = bold;
    all.push_back("solver.epochs=" + std::to_string(epochs));
    all.push_back("stop.divergence_ratio=" + ratio);
    all.push_back("output.file=" + folder.path(file));
    return run_tessera({GetParam(), folder.reconstruct(all)});
  };
  const Outcome overflown = outcome_of(1000, "0", "overflown.h5");
  const std::string after = "is not finite after epoch ";
  expect_error(overflown, 3, {after, "solver.object_step"});
  const int failed = std::stoi(overflown.err.substr(overflown.err.find(after) + after.size()));
  const Outcome stopped = outcome_of(1000, "2", "stopped.h5");
  ASSERT_EQ(stopped.exit_code, 0) << stopped.err;
  EXPECT_THAT(stopped.out, AllOf(HasSubstr("stopped: divergence"), HasSubstr("back to epoch ")));

  for (const char* file : {"overflown.h5", "stopped.h5"}) {
    const io::File kept = io::File::open(folder.path(file));
    const auto n_kept = static_cast<int>(kept.read_doubles("history/error").size());
    ASSERT_GT(n_kept, 0);
    EXPECT_LT(n_kept, failed);
    const Outcome shorter = outcome_of(n_kept, "0", "shorter.h5");
    ASSERT_EQ(shorter.exit_code, 0) << shorter.err;
    const io::File expected = io::File::open(folder.path("shorter.h5"));
    for (const char* name : {"object", "probe"}) {
      const WaveStack a = kept.read_waves(name);
      const WaveStack b = expected.read_waves(name);
      EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end())) << name << " of " << file;
    }
  }
}

}  // namespace
}  // namespace tessera::testing

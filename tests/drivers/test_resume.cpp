// `tessera resume`: a result is all that it takes to go on, and the run is the one that never
// stopped.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launch.hpp"
#include "scan_file.hpp"

namespace tessera::testing {
namespace {

using Words = std::vector<std::string>;

class Resumed : public ::testing::TestWithParam<int> {
 protected:
  static Words words(const Words& overrides) {
    Words all{"reconstruct", "deck.toml", "run.share_gpu=true", "run.deterministic=true",
              "decomposition.tiles=[1, " + std::to_string(GetParam()) + "]"};
    all.insert(all.end(), overrides.begin(), overrides.end());
    return all;
  }
  Outcome run(const Words& overrides) const {
    return run_tessera({GetParam(), words(overrides), folder_.path("")});
  }
  static Outcome resume(int n_ranks, const std::string& result, const Words& overrides = {},
                        const std::string& from = "/") {
    Words all{"resume", result};
    all.insert(all.end(), overrides.begin(), overrides.end());
    return run_tessera({n_ranks, all, from});
  }
  /// Largest difference of the objects, or -1: other shapes, or another number of epochs.
  static double difference(const std::string& path_a, const std::string& path_b) {
    const io::File a = io::File::open(path_a);
    const io::File b = io::File::open(path_b);
    const WaveStack object_a = a.read_waves("object");
    const WaveStack object_b = b.read_waves("object");
    if (object_a.size() != object_b.size() ||
        a.read_doubles("history/error").size() != b.read_doubles("history/error").size())
      return -1;
    double most = 0;
    for (std::size_t i = 0; i < object_a.size(); ++i)
      most = std::max(most, std::abs(object_a.data()[i] - object_b.data()[i]));
    return most;
  }

  const ScanFolder folder_;
};
INSTANTIATE_TEST_SUITE_P(Run, Resumed, ::testing::Values(1, 3));  // and other ranks, 2 and 1

/// The deck is gone, its folder has moved, and the program starts elsewhere.
TEST_P(Resumed, IsTheStraightRunAndNeedsNoDeck) {
  ASSERT_EQ(run({"solver.epochs=9", "solver.final_step=1", "output.file=straight.h5"}).exit_code,
            0);
  ASSERT_EQ(run({"solver.epochs=4", "solver.final_step=1"}).exit_code, 0);
  const std::string moved = folder_.path("moved");
  std::filesystem::create_directory(moved);
  for (const char* name : {"scan.h5", "result.h5"})
    std::filesystem::rename(folder_.path(name), moved + "/" + name);
  std::filesystem::remove(folder_.deck());

  const std::string other = moved + "/other_ranks.h5";
  std::filesystem::copy(moved + "/result.h5", other);
  const Outcome resumed = resume(GetParam(), moved + "/result.h5", {"solver.epochs=9"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(difference(moved + "/result.h5", folder_.path("straight.h5")), 0);

  ASSERT_EQ(resume(GetParam() % 3 + 1, "other_ranks.h5", {"solver.epochs=9"}, moved).exit_code, 0);
  const double on_others = difference(other, folder_.path("straight.h5"));
  EXPECT_GE(on_others, 0);
  EXPECT_LT(on_others, TESSERA_REAL_IS_FLOAT ? 1e-4 : 1e-10);
}

TEST_P(Resumed, FinishesWhatAStopLeft) {
  ASSERT_EQ(run({"solver.epochs=400", "output.file=straight.h5"}).exit_code, 0);
  Job job({GetParam(), words({"solver.epochs=400"}), folder_.path("")});
  ASSERT_TRUE(job.prints("epoch "));
  std::ofstream(folder_.path("result.h5.stop"));
  const Outcome outcome = job.wait();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, ::testing::HasSubstr("stopped: asked to by "));
  EXPECT_FALSE(std::filesystem::exists(folder_.path("result.h5.stop")));
  ASSERT_LT(io::File::open(folder_.result()).read_doubles("history/error").size(), 400u);

  const Outcome resumed = resume(GetParam(), folder_.result());
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(difference(folder_.result(), folder_.path("straight.h5")), 0);
  EXPECT_EQ(io::File::open(folder_.result()).text_attribute("/", "status"), "finished");

  expect_error(resume(GetParam(), folder_.result()), 2,
               {"result.h5", "all its 400 epochs", "solver.epochs=N"});
}

/// As while a large scan is read.
TEST_P(Resumed, HearsAStopOfBeforeTheFirstEpoch) {
  std::ofstream(folder_.path("result.h5.stop"));
  const Outcome outcome = run({"solver.epochs=400"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, ::testing::HasSubstr("stopped: asked to by "));
  EXPECT_EQ(io::File::open(folder_.result()).read_doubles("history/error").size(), 1u);
}

/// A torn write, and a bit that has changed on the disk.
TEST_P(Resumed, TakesTheOlderSaveWhereTheNewerIsDamaged) {
  ASSERT_EQ(run({"solver.epochs=9", "solver.final_step=1", "output.file=straight.h5"}).exit_code,
            0);
  const auto cut = [&](std::uintmax_t n_bytes) {
    std::filesystem::resize_file(folder_.result(), n_bytes / 2);
  };
  const auto change = [&](std::uintmax_t n_bytes) {
    std::fstream file(folder_.result(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(n_bytes / 2));
    file.write("torn", 4);
  };
  const std::vector<std::function<void(std::uintmax_t)>> damages{cut, change};
  for (const auto& damage : damages) {
    // One epoch, and another one: the older save is that of the first.
    ASSERT_EQ(run({"solver.epochs=9", "solver.final_step=1", "stop.time_s=1e-9"}).exit_code, 0);
    ASSERT_EQ(resume(GetParam(), folder_.result()).exit_code, 0);
    damage(std::filesystem::file_size(folder_.result()));
    const Outcome resumed = resume(GetParam(), folder_.result(), {"stop.time_s=0"});
    ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
    EXPECT_THAT(resumed.err, ::testing::HasSubstr("going on from the save before it"));
    EXPECT_EQ(difference(folder_.result(), folder_.path("straight.h5")), 0);
    EXPECT_FALSE(std::filesystem::exists(folder_.path("result.h5.older")));
  }
  change(std::filesystem::file_size(folder_.result()));
  expect_error(resume(GetParam(), folder_.result(), {"solver.epochs=12"}), 2,
               {"result.h5", "damaged", "no save before it"});
}

TEST(Resume, RefusesWhatIsNoResultByName) {
  const ScanFolder folder;
  const auto complaint = [&](const std::string& path, const Words& names) {
    expect_error(run_tessera({1, {"resume", path}}), 2, names);
  };
  complaint(folder.scan(), {"scan.h5", "is not a result", "but a scan"});
  complaint(folder.deck(), {"deck.toml", "is not an HDF5 file"});
  complaint(folder.path("none.h5"), {"none.h5", "does not exist"});
  io::File without = io::File::create(folder.path("without.h5"));
  without.set_attribute("/", "format", "tessera-result 1");
  without.close();
  complaint(folder.path("without.h5"), {"without.h5", "holds no deck", "run.resume="});
  ASSERT_EQ(run_tessera({1, folder.reconstruct()}).exit_code, 0);
  std::filesystem::remove(folder.scan());
  expect_error(run_tessera({1, {"resume", folder.result(), "solver.epochs=9"}}), 2, {"scan.h5"});
  expect_error(run_tessera({1, {"resume", folder.result(), "solver.epoch=9"}}), 2,
               {"solver.epoch=9", "solver.epochs"});
}

}  // namespace
}  // namespace tessera::testing

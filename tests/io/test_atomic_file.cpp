#include <chrono>
#include <fstream>
#include <memory>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/base/error.hpp"
#include "tessera/io/hdf5.hpp"

#include "io/scan_file.hpp"
#include "io/small_disk.hpp"

namespace tessera::io {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace testing;
using tessera::testing::world;

class AtomicFileIn : public ::testing::Test {
 protected:
  void SetUp() override {
    on_root([&] { std::ofstream(path_) << "old result"; });
  }
  void expect_old_result_and_no_partial_file() const {
    world().barrier();
    std::string content;
    std::getline(std::ifstream(path_) >> std::ws, content);
    EXPECT_EQ(content, "old result");
    EXPECT_FALSE(std::filesystem::exists(path_ + ".part"));
    world().barrier();
  }
  const TemporaryFolder folder_;
  const std::string path_ = folder_.file("result.h5");
};

TEST_F(AtomicFileIn, CommitReplacesTheOldResult) {
  {
    AtomicFile result(path_, 1 << 20, world());
    File file = File::create(result.partial_path(), world());
    file.write_doubles("x", {2}, {1, 2});
    file.close();
    result.commit();
  }
  EXPECT_EQ(File::open(path_).read_doubles("x"), (std::vector<double>{1, 2}));
  EXPECT_FALSE(std::filesystem::exists(path_ + ".part"));
}

TEST_F(AtomicFileIn, WithoutCommitTheOldResultStays) {
  {
    const AtomicFile result(path_, 1 << 20, world());
    File file = File::create(result.partial_path(), world());
    file.write_doubles("x", {2}, {1, 2});
    file.close();
    EXPECT_TRUE(std::filesystem::exists(result.partial_path()));
    world().barrier();
  }
  expect_old_result_and_no_partial_file();
}

TEST_F(AtomicFileIn, MissingFoldersAndFoldersInTheWayAreNamed) {
  const std::string nowhere = folder_.file("none/result.h5");
  EXPECT_THAT(agreed_error([&] { AtomicFile(nowhere, 1, world()); }),
              AllOf(HasSubstr(nowhere), HasSubstr("there is no folder")));
  on_root([&] { std::filesystem::create_directory(folder_.file("taken")); });
  EXPECT_THAT(agreed_error([&] { AtomicFile(folder_.file("taken"), 1, world()); }),
              HasSubstr("it is a folder"));
  EXPECT_THAT(agreed_error([&] { AtomicFile("/proc/result.h5", 1, world()); }),
              HasSubstr("/proc/result.h5"));
}

TEST_F(AtomicFileIn, AFullDiskIsNoticedBeforeAnythingIsWritten) {
  std::string message;
  {
    const SmallDisk small(100000);
    message = agreed_error([&] { AtomicFile(path_, 200000, world()); });
  }
  EXPECT_THAT(message, AllOf(HasSubstr(path_), HasSubstr("needs 200000 bytes"),
                             HasSubstr("are free"), HasSubstr("File too large")));
  EXPECT_THAT(agreed_error([&] { AtomicFile(path_, std::int64_t{1} << 60, world()); }),
              HasSubstr("are free"));
  expect_old_result_and_no_partial_file();
}

TEST_F(AtomicFileIn, OnlyOneMayHoldTheLockOfAnOutput) {
  {
    const OutputLock first(path_, world());
    EXPECT_THAT(agreed_error([&] { OutputLock(path_, world()); }),
                AllOf(HasSubstr(path_), HasSubstr("another run writes it, process "),
                      HasSubstr("choose another file")));
    const OutputLock other(folder_.file("other.h5"), world());
  }
  world().barrier();
  EXPECT_FALSE(std::filesystem::exists(path_ + ".lock"));
  const OutputLock again(path_, world());
}

TEST_F(AtomicFileIn, WhoHasPatienceGetsTheLockWhenTheOtherHasEnded) {
  auto first = std::make_unique<OutputLock>(path_, world());
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    first.reset();
  });
  const OutputLock second(path_, world(), 30);
  other.join();
  on_root([&] { EXPECT_TRUE(std::filesystem::exists(path_ + ".lock")); });
}

TEST_F(AtomicFileIn, ALockFileThatIsLeftOverLocksNothing) {
  on_root([&] { std::ofstream(path_ + ".lock") << "process 1 on a machine that fell"; });
  const OutputLock lock(path_, world());
}

TEST_F(AtomicFileIn, LocksInMissingFoldersAreRefusedAsFilesAre) {
  EXPECT_THAT(agreed_error([&] { OutputLock(folder_.file("none/result.h5"), world()); }),
              HasSubstr("there is no folder"));
}

}  // namespace
}  // namespace tessera::io

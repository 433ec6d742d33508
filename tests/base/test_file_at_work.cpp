#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <fstream>

#include <gtest/gtest.h>

#include "base/file_at_work.hpp"

namespace tessera {
namespace {

void crash_over(const std::string& path) {
  name_file_on_crash();
  {
    const FileAtWork another("sound.h5");
  }
  const FileAtWork at_work(path);
  std::raise(SIGSEGV);
}

TEST(FileAtWorkDeathTest, IsNamedByACrashAndNothingElseIs) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer says more of a crash";
#endif
  EXPECT_EXIT(crash_over("a\x1b.h5"), ::testing::ExitedWithCode(2),
              "tessera: error: \"a.x1b.h5\" is damaged: the library that reads it crashed");
  const auto crash_elsewhere = [] {
    name_file_on_crash();
    {
      const FileAtWork at_work("sound.h5");
    }
    std::raise(SIGSEGV);
  };
  EXPECT_EXIT(crash_elsewhere(), ::testing::KilledBySignal(SIGSEGV), "");
}

TEST(FileAtWorkDeathTest, IsNamedByALibraryThatGoesRoundInCircles) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "not under the sanitizer";
#endif
  const auto never_ends = [] {
    name_file_on_crash(std::chrono::milliseconds(20));
    const FileAtWork at_work("a.h5");
    while (std::clock() >= 0) {
    }
  };
  EXPECT_EXIT(never_ends(), ::testing::ExitedWithCode(2),
              "\"a.h5\" is damaged: the library that reads it did not come to an end over it");
  const auto reads = [] {
    name_file_on_crash(std::chrono::milliseconds(20));
    {
      const FileAtWork at_work("a.h5");
      const std::clock_t start = std::clock();
      while (std::clock() - start < CLOCKS_PER_SEC / 5) std::ifstream("/proc/self/stat").get();
    }
    std::_Exit(7);
  };
  EXPECT_EXIT(reads(), ::testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace tessera

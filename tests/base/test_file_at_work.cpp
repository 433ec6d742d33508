#include <csignal>

#include <gtest/gtest.h>

#include "tessera/base/file_at_work.hpp"

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

}  // namespace
}  // namespace tessera

#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/thread.hpp"

namespace tessera {
namespace {

TEST(ShareWork, DoesAllOfItOnceWhateverTheThreads) {
  for (const std::size_t n_threads : {1, 3, 16}) {
    std::vector<int> done(1000);
    share_work(done.size(), n_threads, [&](std::size_t thread, std::size_t i) {
      if (thread < n_threads) ++done[i];
    });
    EXPECT_EQ(done, std::vector<int>(1000, 1)) << n_threads << " threads";
  }
}

TEST(ShareFailingWork, ThrowsWhatTheLowestThrewWhenAllIsDone) {
  for (const std::size_t n_threads : {1, 4}) {
    std::vector<int> done(500);
    const auto work = [&](std::size_t, std::size_t i) {
      ++done[i];
      if (i % 100 == 77) throw std::runtime_error(std::to_string(i));
    };
    try {
      share_failing_work(done.size(), n_threads, work);
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "77");
    }
    EXPECT_EQ(done, std::vector<int>(500, 1)) << n_threads << " threads";
  }
}

}  // namespace
}  // namespace tessera

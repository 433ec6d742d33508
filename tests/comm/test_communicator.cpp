#include <array>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/comm/communicator.hpp"

#include "support/world.hpp"

namespace tessera::comm {
namespace {

using testing::world;

TEST(Communicator, SumsOverAllRanks) {
  const int n = world().size();
  std::array<double, 2> values{1.0, static_cast<double>(world().rank())};
  world().sum(values);
  EXPECT_EQ(values[0], n);
  EXPECT_EQ(values[1], n * (n - 1) / 2);
}

TEST(Communicator, GathersUnequalSharesInRankOrder) {
  const std::vector<int> mine(static_cast<std::size_t>(world().rank()), world().rank());
  const std::vector<int> all = world().all_gather(std::span<const int>(mine));
  std::vector<int> expected;
  for (int rank = 0; rank < world().size(); ++rank) expected.insert(expected.end(), rank, rank);
  EXPECT_EQ(all, expected);
}

TEST(Communicator, GathersTexts) {
  const std::vector<std::string> all = world().all_gather(text("rank ", world().rank()));
  for (int rank = 0; rank < world().size(); ++rank) EXPECT_EQ(all[rank], text("rank ", rank));
}

TEST(Communicator, BroadcastsTextFromRankZero) {
  std::string word = world().is_root() ? "deck" : "another, longer text";
  world().broadcast(word);
  EXPECT_EQ(word, "deck");
}

TEST(Communicator, TogetherTellsAllRanksOfTheLowestRanksError) {
  const int last = world().size() - 1;
  std::string message;
  ExitCode code = ExitCode::done;
  try {
    world().together([&] {
      if (world().rank() == last) throw InputError("broken on the last rank");
    });
  } catch (const AgreedError& error) {
    message = error.what();
    code = error.exit_code();
  }
  EXPECT_EQ(message, "broken on the last rank");
  EXPECT_EQ(code, ExitCode::bad_input);
}

TEST(Communicator, TogetherPassesWhenNobodyThrows) {
  EXPECT_NO_THROW(world().together([] {}));
}

TEST(Communicator, FailedCallsThrowInsteadOfAborting) {
  EXPECT_THROW(check_mpi(MPI_Send(nullptr, 0, MPI_INT, world().size() + 5, 0, world().handle())),
               SystemError);
}

}  // namespace
}  // namespace tessera::comm

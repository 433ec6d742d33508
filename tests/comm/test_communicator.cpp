#include <array>
#include <cstdlib>
#include <numeric>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/comm/communicator.hpp"

#include "comm/pieces.hpp"
#include "comm/ranks_of.hpp"
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

/// Bytes that say where they come from, where they go and which they are.
std::vector<std::byte> bytes_of(int from, int to, std::size_t n) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < n; ++i)
    bytes.push_back(static_cast<std::byte>((31 * from + 7 * to + 3 * static_cast<int>(i)) & 255));
  return bytes;
}

/// As many calls as are needed where all at once is more than MPI may count.
TEST(Communicator, GathersInPiecesOfAnyLength) {
  const auto length = [](int rank) { return static_cast<std::size_t>(5 * rank % 17); };
  std::vector<std::byte> expected;
  for (int rank = 0; rank < world().size(); ++rank)
    for (const std::byte byte : bytes_of(rank, 0, length(rank))) expected.push_back(byte);
  const std::vector<std::byte> mine = bytes_of(world().rank(), 0, length(world().rank()));
  for (const std::int64_t largest_bytes : {1, 7, 12, 40, 1000})
    EXPECT_EQ(gather_in_pieces(mine, world().handle(), largest_bytes), expected) << largest_bytes;
}

TEST(Communicator, ExchangesInPiecesOfAnyLength) {
  const auto length = [](int from, int to) {
    return static_cast<std::size_t>((11 * from + 5 * to + 3) % 23);
  };
  const int here = world().rank();
  std::vector<std::vector<std::byte>> parts;
  std::vector<std::byte> expected;
  for (int rank = 0; rank < world().size(); ++rank) {
    parts.push_back(bytes_of(here, rank, length(here, rank)));
    for (const std::byte byte : bytes_of(rank, here, length(rank, here))) expected.push_back(byte);
  }
  const std::vector<std::span<const std::byte>> to(parts.begin(), parts.end());
  for (const std::int64_t largest_bytes : {1, 7, 12, 40, 1000})
    EXPECT_EQ(exchange_in_pieces(to, world().handle(), largest_bytes), expected) << largest_bytes;
}

TEST(Communicator, RanksOfOneHostKeepTheirOrder) {
  const Communicator host = ranks_of_host(world());
  EXPECT_EQ(host.size(), world().size());  // of a test
  EXPECT_EQ(host.rank(), world().rank());
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

/// What Open MPI has for a parameter of type size_t; 0 where it knows none of that name.
std::size_t open_mpi_parameter(std::string_view wanted) {
  int provided = 0;
  int n = 0;
  check_mpi(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
  check_mpi(MPI_T_cvar_get_num(&n));
  std::size_t value = 0;
  for (int i = 0; i < n; ++i) {
    std::array<char, 256> name{};
    int length = name.size();
    int none = 0;
    int level = 0;
    int bound = 0;
    int scope = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_enum words = MPI_T_ENUM_NULL;
    if (MPI_T_cvar_get_info(i, name.data(), &length, &level, &type, &words, nullptr, &none, &bound,
                            &scope) != MPI_SUCCESS ||
        wanted != name.data())
      continue;
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    int count = 0;
    check_mpi(MPI_T_cvar_handle_alloc(i, nullptr, &handle, &count));
    check_mpi(MPI_T_cvar_read(handle, &value));
    check_mpi(MPI_T_cvar_handle_free(&handle));
  }
  check_mpi(MPI_T_finalize());
  return value;
}

TEST(Environment, MessagesOfAMegabyteLeaveUnaskedUnlessTheUserSaysOtherwise) {
  const std::size_t limit = open_mpi_parameter("btl_tcp_eager_limit");
  if (limit == 0) GTEST_SKIP() << "not Open MPI, or one without TCP";
  if (!std::getenv("OMPI_COMM_WORLD_SIZE")) GTEST_SKIP() << "started without mpirun";
  const char* users = std::getenv("OMPI_MCA_btl_tcp_eager_limit");
  EXPECT_EQ(limit, users ? std::strtoull(users, nullptr, 10) : 1u << 20);
}

}  // namespace
}  // namespace tessera::comm

// What Kokkos says when memory ends, and what the rank's own GPU looks like.

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/base/error.hpp"
#include "tessera/base/host.hpp"
#include "tessera/device/device.hpp"
#include "tessera/device/runtime.hpp"

#include "support/world.hpp"

namespace tessera::device {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;
using testing::world;

constexpr std::size_t pebi = std::size_t{1} << 50;  // no machine has it, nor the address space

TEST(ShortOfMemory, OneSentenceWithBytesArrayAndRemedy) {
  std::string message;
  try {
    const DeviceView<char*> view("tessera::test::object", pebi);
  } catch (const std::exception& error) {
    message = short_of_memory(error.what());
  }
  EXPECT_THAT(message, AllOf(StartsWith("could not allocate "), HasSubstr("tessera::test::object"),
                             HasSubstr("use more ranks"), EndsWith("solver.batch_size"),
                             Not(HasSubstr("Kokkos")), Not(HasSubstr("\n"))));
}

TEST(ShortOfMemory, BothFormsOfKokkosAndWhatStandsBeforeThem) {
  const std::string expected =
      "[rank 3] could not allocate 2.7 GiB of Cuda memory for \"tessera::run::object\"; use more "
      "ranks, or fewer probe.n_modes or a smaller solver.batch_size";
  EXPECT_EQ(short_of_memory("[rank 3] Kokkos ERROR: Cuda memory space failed to allocate 2.7 GiB "
                            "(label=\"tessera::run::object\")."),
            expected);
  EXPECT_EQ(
      short_of_memory("[rank 3] Kokkos failed to allocate memory for label "
                      "\"tessera::run::object\".  Allocation using MemorySpace named \"Cuda\" "
                      "failed with the following error:  Allocation of size 2.7 GiB failed, likely "
                      "due to insufficient memory.  (The allocation mechanism was cudaMalloc().)\n"
                      "Traceback functionality not available\n"),
      expected);
}

TEST(ShortOfMemory, OtherMessagesStay) {
  EXPECT_EQ(short_of_memory("std::bad_function_call"), "std::bad_function_call");
}

TEST(ShortOfMemory, OfTheHostNamesWhatTakesLess) {
  EXPECT_THAT(
      short_of_memory("[rank 3] std::bad_alloc"),
      AllOf(StartsWith("[rank 3] could not allocate host memory"), HasSubstr("use more ranks"),
            HasSubstr("data.crop"), Not(HasSubstr("bad_alloc"))));
}

TEST(Together, NamesTheRankThatLacksMemory) {
  const int last = world().size() - 1;
  std::string message;
  try {
    world().together([&] {
      if (world().rank() == last) const DeviceView<char*> view("tessera::test::object", pebi);
    });
  } catch (const AgreedError& error) {
    message = short_of_memory(error.what());
  }
  EXPECT_THAT(message, StartsWith("[rank " + std::to_string(last) + "] could not allocate "));
}

TEST(UseGpu, KnowsTheGpuOfThisRank) {
  const std::optional<Gpu> gpu = use_gpu(world().local_rank());
  if (!gpu) GTEST_SKIP() << "a build for hosts";
  EXPECT_EQ(gpu->index, world().local_rank() % gpu->n_visible);
  EXPECT_FALSE(gpu->name.empty());
  EXPECT_THAT(gpu->uuid, MatchesRegex("GPU-[0-9a-f-]+"));
  EXPECT_EQ(gpu->uuid.size(), 40u);
  EXPECT_GT(gpu->total_bytes, std::int64_t{1} << 30);
  EXPECT_GT(gpu->free_bytes, 0);
  EXPECT_LE(gpu->free_bytes, gpu->total_bytes);
  EXPECT_GE(gpu->compute_capability, 80);
  EXPECT_LT(gpu->n_nvlink_peers, gpu->n_visible);
}

TEST(Host, HasAName) {
  EXPECT_FALSE(host_name().empty());
}

}  // namespace
}  // namespace tessera::device

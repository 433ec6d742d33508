// The rule by which ranks take GPUs, and its words, without any GPU.

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/device/gpu.hpp"

namespace tessera::device {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(GpuIndex, RanksTakeTheVisibleGpusInTurn) {
  for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(gpu_index(rank, 4), rank);
  EXPECT_EQ(gpu_index(4, 4), 0);
  EXPECT_EQ(gpu_index(6, 4), 2);
}

TEST(GpuIndex, ATaskThatSeesOneGpuTakesIt) {
  for (int rank = 0; rank < 8; ++rank) EXPECT_EQ(gpu_index(rank, 1), 0);
}

TEST(SharedGpu, NobodySharesWithAGpuEach) {
  EXPECT_EQ(shared_gpu({}), std::nullopt);
  EXPECT_EQ(shared_gpu({{"a", "GPU-1"}, {"a", "GPU-2"}, {"b", "GPU-3"}}), std::nullopt);
}

TEST(SharedGpu, TheSameNameOnAnotherHostIsAnotherGpu) {
  EXPECT_EQ(shared_gpu({{"a", "GPU-1"}, {"b", "GPU-1"}}), std::nullopt);
}

TEST(SharedGpu, FewerGpusThanRanksAreNamedWithTheRemedy) {
  const auto complaint =
      shared_gpu({{"a", "GPU-9"}, {"b", "GPU-1"}, {"b", "GPU-2"}, {"b", "GPU-1"}, {"b", "GPU-2"}});
  ASSERT_TRUE(complaint);
  EXPECT_THAT(*complaint, AllOf(HasSubstr("ranks 1 and 3"), HasSubstr("GPU-1"),
                                HasSubstr("host b 4 ranks see 2 GPUs"), HasSubstr("run.share_gpu"),
                                HasSubstr("CUDA_VISIBLE_DEVICES")));
}

TEST(Description, IsOneLineOfWhatMatters) {
  constexpr std::int64_t gib = std::int64_t{1} << 30;
  Gpu gpu{.index = 2,
          .name = "NVIDIA H200",
          .uuid = "GPU-1",
          .pci_bus_id = "0000:1b:00.0",
          .total_bytes = 140 * gib,
          .free_bytes = 139 * gib + gib / 2,
          .numa_node = 1,
          .n_visible = 4,
          .n_nvlink_peers = 3};
  EXPECT_EQ(description(gpu),
            "GPU 2 NVIDIA H200, 140 GiB, 139.5 GiB free, NUMA node 1, NVLink to 3 of 3 others in "
            "sight");
  gpu.numa_node = -1;
  EXPECT_THAT(description(gpu), HasSubstr("NUMA node unknown"));
}

TEST(GpuLines, AreOneForEachRankAndSummedUpBeyondSixteen) {
  std::vector<Seat> seats;
  std::vector<std::string> names;
  std::vector<std::string> descriptions;
  for (int rank = 0; rank < 16; ++rank) {
    seats.push_back({rank < 8 ? "a" : "b", "GPU"});
    names.emplace_back(rank < 12 ? "H200" : "A100");
    descriptions.push_back("GPU " + std::to_string(rank));
  }
  const std::vector<std::string> each = gpu_lines(seats, names, descriptions);
  ASSERT_EQ(each.size(), 16u);
  EXPECT_EQ(each[9], "rank 9 on b: GPU 9");
  seats.push_back({"b", "GPU"});
  names.emplace_back("A100");
  descriptions.emplace_back("GPU 16");
  EXPECT_EQ(gpu_lines(seats, names, descriptions),
            (std::vector<std::string>{"5 ranks on 1 host: A100", "12 ranks on 2 hosts: H200"}));
}

}  // namespace
}  // namespace tessera::device

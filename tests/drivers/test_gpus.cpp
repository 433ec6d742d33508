// One rank drives one GPU: what is printed, what is refused, what needs none.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launch.hpp"
#include "scan_file.hpp"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string one_gpu = "export CUDA_VISIBLE_DEVICES=0";
const std::string no_gpu = "export CUDA_VISIBLE_DEVICES=";

TEST(Gpus, EveryRankSaysWhichIsItsOwnInOrder) {
  const ScanFolder folder;
  const Outcome outcome = run_tessera({2, folder.reconstruct(), folder.path(""), one_gpu});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::vector<std::string> printed = lines(outcome.out);
  ASSERT_GE(printed.size(), 2u);
  for (std::size_t rank : {0, 1}) {
    EXPECT_THAT(printed[rank], ::testing::StartsWith("rank " + std::to_string(rank) + " on "));
    EXPECT_THAT(printed[rank], HasSubstr(": GPU 0 "));
    EXPECT_THAT(printed[rank], HasSubstr(" free, NUMA node "));
  }
}

TEST(Gpus, TwoRanksOnOneAreRefused) {
  const ScanFolder folder;
  const Outcome outcome =
      run_tessera({2, folder.reconstruct({"run.share_gpu=false"}), folder.path(""), one_gpu});
  expect_error(outcome, 2, {"ranks 0 and 1", "2 ranks see 1 GPU;", "run.share_gpu = true"});
}

class WithoutGpu : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Gpus, WithoutGpu, ::testing::Values(1, 4));

TEST_P(WithoutGpu, ARunEndsWithTheReason) {
  const ScanFolder folder;
  const Outcome outcome = run_tessera({GetParam(), folder.reconstruct(), folder.path(""), no_gpu});
  expect_error(outcome, 1, {"no GPU is visible", "CUDA_VISIBLE_DEVICES = \"\"", "driver"});
}

TEST_P(WithoutGpu, DecksAreChecked) {
  const ScanFolder folder;
  const Outcome outcome =
      run_tessera({GetParam(), folder.reconstruct({"output.file="}), folder.path(""), no_gpu});
  expect_error(outcome, 2, {"output.file is missing"});
}

TEST_P(WithoutGpu, ScansAreInspected) {
  const ScanFolder folder;
  const Outcome outcome =
      run_tessera({GetParam(), {"inspect", folder.scan()}, folder.path(""), no_gpu});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, Not(HasSubstr("GPU")));
}

TEST(Gpus, VersionNamesCudaAndItsDriver) {
  const Outcome outcome = run_tessera({1, {"--version"}, "", no_gpu});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("\ngpu CUDA "));
  EXPECT_THAT(outcome.out, HasSubstr(", driver for CUDA "));
}

}  // namespace
}  // namespace tessera::testing

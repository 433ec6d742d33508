// GoogleTest under MPI. A failure is printed by its rank at once; whether a test failed is agreed
// when it ends, on a communicator of its own, so that no test result ever communicates between a
// test's own collectives. Several ranks may share a GPU here. A build for GPUs is skipped where
// there is none: all ranks return what ctest takes for that.

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tessera/device/runtime.hpp"

#include "support/missing_gpu.hpp"
#include "support/world.hpp"

namespace {

std::unique_ptr<tessera::comm::Communicator> world_communicator;

class RankListener : public ::testing::EmptyTestEventListener {
 public:
  explicit RankListener(const tessera::comm::Communicator& world) : verdict_(world.handle()) {}

  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (result.passed()) return;
    const bool skipped = result.skipped();
    if (skipped && !verdict_.is_root()) return;
    std::fprintf(stderr, "[rank %d] %s:%d %s: %s\n", verdict_.rank(),
                 result.file_name() ? result.file_name() : "?", result.line_number(),
                 skipped ? "skipped" : "failed", result.message());
  }

  void OnTestEnd(const ::testing::TestInfo& info) override {
    const bool failed_here = info.result()->Failed();
    const bool failed = verdict_.any(failed_here);
    failed_anywhere_ = failed_anywhere_ || failed;
    if (verdict_.is_root() && failed && !failed_here)
      std::fprintf(stderr, "[rank 0] %s.%s failed on another rank\n", info.test_suite_name(),
                   info.name());
  }

  bool failed_anywhere() const { return failed_anywhere_; }

 private:
  tessera::comm::Communicator verdict_;
  bool failed_anywhere_ = false;
};

}  // namespace

namespace tessera::testing {
const comm::Communicator& world() {
  return *world_communicator;
}
}  // namespace tessera::testing

namespace {

using tessera::testing::world;

/// Returns the exit code of every rank.
int run_tests() {
  const tessera::device::Runtime runtime(world().local_rank());
  auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
  if (!world().is_root()) delete listeners.Release(listeners.default_result_printer());
  auto* ranks = new RankListener(world());
  listeners.Append(ranks);

  const int status_here = RUN_ALL_TESTS();
  const bool failed = world().any(status_here != 0 || ranks->failed_anywhere());
  delete listeners.Release(ranks);
  return failed ? 1 : 0;
}

/// The lowest rank without a GPU says why it has none.
int leave_without_gpu(const std::string& reason_here) {
  const std::vector<std::string> reasons = world().all_gather(reason_here);
  const auto first = std::ranges::find_if(reasons, [](const auto& r) { return !r.empty(); });
  if (world().is_root())
    std::fprintf(stderr, "[rank %d] %s: %s\n", static_cast<int>(first - reasons.begin()),
                 tessera::testing::gpu_is_required() ? "failed" : "skipped", first->c_str());
  return tessera::testing::gpu_is_required() ? 1 : tessera::testing::exit_code_of_skipped;
}

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  tessera::comm::Environment environment(argc, argv);
  world_communicator = std::make_unique<tessera::comm::Communicator>(MPI_COMM_WORLD);
  const std::string missing = tessera::device::missing_gpu().value_or("");
  const int exit_code = world().any(!missing.empty()) ? leave_without_gpu(missing) : run_tests();
  world_communicator.reset();
  return exit_code;
}

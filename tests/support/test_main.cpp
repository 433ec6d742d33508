// GoogleTest under MPI. A failure is printed by its rank at once; whether a test failed is agreed
// when it ends, on a communicator of its own, so that no test result ever communicates between a
// test's own collectives.

#include <cstdio>
#include <memory>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

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

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  tessera::comm::Environment environment(argc, argv);
  const Kokkos::ScopeGuard kokkos(argc, argv);
  world_communicator = std::make_unique<tessera::comm::Communicator>(MPI_COMM_WORLD);

  auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
  if (!world_communicator->is_root()) delete listeners.Release(listeners.default_result_printer());
  auto* ranks = new RankListener(*world_communicator);
  listeners.Append(ranks);

  const int status_here = RUN_ALL_TESTS();
  const bool failed = world_communicator->any(status_here != 0 || ranks->failed_anywhere());
  delete listeners.Release(ranks);
  world_communicator.reset();
  return failed ? 1 : 0;
}

// The program needs a GPU: where there is none, none of these tests can say anything.

#include <gtest/gtest.h>

#include "tessera/device/gpu.hpp"

#include "support/missing_gpu.hpp"

namespace tessera::testing {
namespace {

class NeedsGpu : public ::testing::Environment {
 public:
  void SetUp() override {
    const auto reason = device::missing_gpu();
    if (!reason) return;
    if (gpu_is_required()) FAIL() << *reason;
    GTEST_SKIP() << *reason;
  }
};

const auto* const environment = ::testing::AddGlobalTestEnvironment(new NeedsGpu);

}  // namespace
}  // namespace tessera::testing

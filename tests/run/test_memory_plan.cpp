// The memory plan against what Kokkos allocates, for every method with every model that it allows.

#include <array>

#include <gtest/gtest.h>

#include "run/memory.hpp"
#include "run/models.hpp"
#include "run/run.hpp"
#include "simulation/simulation.hpp"
#include "support/device_bytes.hpp"

namespace tessera::run {
namespace {

using testing::world;

/// What is refused before tiles are cut would not have fitted afterwards either.
void expect_least_to_be_less(const deck::Deck& deck, const Scan& scan) {
  const auto least =
      plan_memory(least_memory_needs(deck, scan, world().size()), scan.memory.patterns);
  std::array<std::int64_t, 2> together{total_bytes(scan.memory.device),
                                       total_bytes(scan.memory.host)};
  world().sum(together);
  const std::int64_t device = world().size() * total_bytes(least.device);
  const std::int64_t host = world().size() * total_bytes(least.host);
  EXPECT_LE(device, together[0]);
  EXPECT_LE(device + host, together[0] + together[1]);
}

class MemoryPlanOf : public ::testing::TestWithParam<testing::Model> {};

TEST_P(MemoryPlanOf, HoldsWhatIsAllocatedAndAtMostATenthMore) {
  const testing::Model& model = GetParam();
  const testing::SharedFolder folder(std::string("memory_plan_") + model.name);
  bool is_simulated = false;
  for (const std::string& method : deck::method_names()) {
    SCOPED_TRACE(method);
    deck::Deck deck;
    try {
      deck = testing::deck_of(folder.path(), model, method);
    } catch (const InputError&) {
      continue;  // test_methods_matrix says why
    }
    if (!is_simulated) simulation::simulate(deck, world(), Log(false));
    is_simulated = true;
    const testing::DeviceBytes counted;
    run::Run run(deck, world(), Log(false));
    for (int epoch = 0; epoch < 2; ++epoch) run.run_epoch();  // the second fits all that is fitted
    run.measure();
    const std::int64_t planned = total_bytes(run.scan().memory.device);
    EXPECT_GE(planned, counted.peak());
    EXPECT_LE(planned, counted.peak() + counted.peak() / 10);
    expect_least_to_be_less(deck, run.scan());
  }
}

INSTANTIATE_TEST_SUITE_P(Models, MemoryPlanOf, ::testing::ValuesIn(testing::models),
                         [](const auto& shown) { return std::string(shown.param.name); });

}  // namespace
}  // namespace tessera::run

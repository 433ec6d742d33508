// The memory plan against what Kokkos allocates, for every method with every model that it allows.

#include <gtest/gtest.h>

#include "run/models.hpp"
#include "run/run.hpp"
#include "simulation/simulation.hpp"
#include "support/device_bytes.hpp"

namespace tessera::run {
namespace {

using testing::world;

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
  }
}

INSTANTIATE_TEST_SUITE_P(Models, MemoryPlanOf, ::testing::ValuesIn(testing::models),
                         [](const auto& shown) { return std::string(shown.param.name); });

}  // namespace
}  // namespace tessera::run

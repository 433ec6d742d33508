// Every method with every model that it allows: N ranks compute what one rank computes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/models.hpp"
#include "simulation/simulation.hpp"
#include "support/same_answer.hpp"

namespace tessera::run {
namespace {

using testing::world;

class Matrix : public ::testing::TestWithParam<std::tuple<testing::Model, std::string>> {};

TEST_P(Matrix, ComputesWhatOneRankComputesOrIsRefusedByName) {
  const auto& [model, method] = GetParam();
  const testing::SharedFolder folder(std::string("matrix_") + model.name);
  deck::Deck with_method;
  try {
    with_method = testing::deck_of(folder.path(), model, method);
  } catch (const InputError& refused) {
    EXPECT_THAT(refused.what(), ::testing::HasSubstr(method + "\" does not go with"));
    return;
  }
  simulation::simulate(with_method, world(), Log(false));
  const double tolerance = model.tolerance;
  testing::expect_same_answer(with_method, 3, tolerance,
                              testing::in_float ? 0.3 * tolerance : 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Models, Matrix,
                         ::testing::Combine(::testing::ValuesIn(testing::models),
                                            ::testing::ValuesIn(deck::method_names())),
                         [](const auto& shown) {
                           return std::string(std::get<0>(shown.param).name) + "_" +
                                  std::get<1>(shown.param);
                         });

}  // namespace
}  // namespace tessera::run

// The example decks of the two real measurements, in few epochs, against errors that a wrong sign,
// a shifted centre or a lost sub-pixel part would miss by far.

#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "run/run.hpp"
#include "support/deck_text.hpp"

namespace tessera::run {
namespace {

using testing::world;

struct Example {
  const char* deck;
  int n_epochs;
  double final_error;
};

class MeasuredData : public ::testing::TestWithParam<Example> {};

TEST_P(MeasuredData, FinalErrorIsWithinTheBound) {
  const std::filesystem::path path =
      std::filesystem::path(TESSERA_EXAMPLES_FOLDER) / (std::string(GetParam().deck) + ".toml");
  std::ifstream file(path);
  const std::string toml{std::istreambuf_iterator<char>(file), {}};
  const std::vector<std::string> overrides{text("solver.epochs=", GetParam().n_epochs)};
  const deck::Deck deck = deck::parse(toml, path.string(), overrides);
  if (!std::filesystem::exists(deck.data.file)) GTEST_SKIP() << deck.data.file << " is absent";
  run::Run run(deck, world(), Log(false));
  for (int epoch = 0; epoch < GetParam().n_epochs; ++epoch) run.run_epoch();
  EXPECT_LE(run.measure().error, GetParam().final_error);
}

INSTANTIATE_TEST_SUITE_P(Examples, MeasuredData,
                         ::testing::Values(Example{"siemens_star", 20, 0.0145},
                                           Example{"siemens_star_mpie", 20, 0.0120},
                                           Example{"siemens_star_lsqml", 20, 0.0117},
                                           Example{"siemens_star_dm", 40, 0.0195},
                                           Example{"siemens_star_ml", 20, 0.0150},
                                           Example{"siemens_star_lbfgs", 20, 0.0145},
                                           Example{"siemens_star_adam", 20, 0.0142},
                                           Example{"rotavirus", 8, 0.0263},
                                           Example{"rotavirus_lsqml", 8, 0.0262}),
                         [](const auto& example) { return std::string(example.param.deck); });

}  // namespace
}  // namespace tessera::run

// What a run has fitted stays in the model of the run that goes on with it and fits it no further.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/io/hdf5.hpp"

#include "run/resumed_deck.hpp"
#include "run/run.hpp"
#include "simulation/simulation.hpp"
#include "support/deck_text.hpp"

namespace tessera::run::resumed_model_tests {
namespace {

using testing::world;

/// A scan with a defect, and the keys that fit it.
struct Fitted {
  const char* name;
  std::vector<std::string> scan;
  std::vector<std::string> refine;
  std::vector<std::string> later = {};  ///< of the run that goes on
};

void PrintTo(const Fitted& fitted, std::ostream* out) {
  *out << fitted.name;
}

/// Positions move farther than the default lets them.
const std::vector<std::string> moved{"refine.positions_from_epoch=2", "refine.positions_step=2",
                                     "refine.positions_limit_px=7"};

const std::vector<Fitted> all_fitted{
    {"positions", {"simulation.position_error_px=1.5"}, moved},
    {"positions_then_dm",
     {"simulation.position_error_px=1.5"},
     moved,
     {"solver.method=dm", "solver.batch_size=0"}},
    {"intensity", {"simulation.intensity_jitter=0.2"}, {"refine.intensity_from_epoch=2"}},
    {"background", {"simulation.background_fraction=0.2"}, {"refine.background_from_epoch=2"}},
    {"opr", {"simulation.probe_drift=0.4"}, {"probe.opr_modes=2"}},
    {"tilt_and_thickness",
     {"object.n_slices=2", "object.slice_thickness_m=20e-6", "experiment.beam_tilt_rad=[0.05, 0]"},
     {"experiment.beam_tilt_rad=[0, 0]", "refine.tilt_from_epoch=2",
      "refine.thickness_from_epoch=2"}},
    {"all",
     {"simulation.position_error_px=1.5", "simulation.intensity_jitter=0.2",
      "simulation.background_fraction=0.1"},
     {"refine.positions_from_epoch=2", "refine.intensity_from_epoch=2",
      "refine.background_from_epoch=2"}},
};

class ResumedModel : public ::testing::TestWithParam<Fitted> {
 protected:
  ResumedModel() : folder_(std::string("resumed_model_") + GetParam().name) {
    simulation::simulate(deck({}), world(), Log(false));
  }
  std::string path(const char* name) const { return (folder_.path() / name).string(); }
  deck::Deck deck(const std::vector<std::string>& overrides) const {
    std::vector<std::string> all{"solver.method=lsqml", "solver.epochs=40", "solver.batch_size=9"};
    for (const auto& more : {GetParam().scan, overrides})
      all.insert(all.end(), more.begin(), more.end());
    return testing::parsed(folder_.path(), all);
  }
  /// The deck that resumes `file` and fits nothing.
  deck::Deck going_on(const char* file, bool with_fitted = true) const {
    deck::Deck deck = this->deck(GetParam().later);
    deck.run.resume = path(file);
    deck.run.resume_fitted = with_fitted;
    return resumed_deck(deck, world(), Log(false));
  }
  /// The error after `n_epochs` more, which the result has. Collective.
  double run_to(deck::Deck deck, int n_epochs, const char* file) const {
    deck.output.file = path(file);
    run::Run run(deck, world(), Log(false));
    for (int epoch = 0; epoch < n_epochs; ++epoch) run.run_epoch();
    const EpochFigures figures = run.measure();
    run.write_result(figures, "stopped");
    return figures.error;
  }

  testing::SharedFolder folder_;
};

constexpr double tolerance = sizeof(Real) == 4 ? 1e-4 : 1e-9;

TEST_P(ResumedModel, HasTheErrorThatTheFirstRunStoppedWith) {
  const double fitted = run_to(deck(GetParam().refine), 25, "fitted.h5");
  const deck::Deck later = going_on("fitted.h5");
  EXPECT_NEAR(run_to(later, 0, "later.h5") / fitted, 1, tolerance);
  // What is not fitted is in the next result, too.
  EXPECT_NEAR(run_to(going_on("later.h5"), 0, "last.h5") / fitted, 1, tolerance);
  if (GetParam().later.empty()) {
    EXPECT_LT(run_to(later, 3, "later.h5"), fitted);
  }
}

TEST_P(ResumedModel, BeginsAnewWhereTheDeckSaysSo) {
  const double fitted = run_to(deck(GetParam().refine), 25, "fitted.h5");
  EXPECT_GT(run_to(going_on("fitted.h5", false), 0, "anew.h5"), 1.1 * fitted);
}

INSTANTIATE_TEST_SUITE_P(Parameters, ResumedModel, ::testing::ValuesIn(all_fitted),
                         [](const auto& shown) { return std::string(shown.param.name); });

/// @return what is said of a deck with `overrides` that resumes a run with OPR
std::string said_after_opr(const std::vector<std::string>& overrides) {
  const testing::SharedFolder folder("resumed_opr");
  deck::Deck deck = testing::parsed(folder.path(), {"probe.opr_modes=2"});
  deck.output.file = (folder.path() / "opr.h5").string();
  simulation::simulate(deck, world(), Log(false));
  {
    run::Run run(deck, world(), Log(false));
    run.run_epoch();
    run.write_result(run.measure(), "stopped");
  }
  deck::Deck later = testing::parsed(folder.path(), overrides);
  later.run.resume = deck.output.file;
  ::testing::internal::CaptureStderr();
  try {
    resumed_deck(later, world(), Log(world().is_root()));
  } catch (const AgreedError& error) {
    return ::testing::internal::GetCapturedStderr() + error.what();
  }
  return ::testing::internal::GetCapturedStderr();
}

TEST(ResumedDeck, SaysWhatItKeepsAndWhatASolverCannot) {
  using ::testing::AllOf;
  using ::testing::HasSubstr;
  const std::string kept = said_after_opr({});
  const std::string refused = said_after_opr({"solver.method=dm", "solver.batch_size=0"});
  if (!world().is_root()) return;
  EXPECT_THAT(kept, HasSubstr("OPR modes as the result has them"));
  EXPECT_THAT(refused, AllOf(HasSubstr("opr.h5"), HasSubstr("does not go with probe.opr_modes = 2"),
                             HasSubstr("run.resume_fitted = false")));
}

}  // namespace
}  // namespace tessera::run::resumed_model_tests

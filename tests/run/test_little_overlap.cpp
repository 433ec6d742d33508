// The difference map and RAAR on scans that leave much open: one line of positions, and windows
// that do not overlap.

#include <gtest/gtest.h>

#include "tessera/io/hdf5.hpp"

#include "run/run.hpp"
#include "simulation/simulation.hpp"
#include "support/deck_text.hpp"
#include "support/same_answer.hpp"

namespace tessera::run {
namespace {

using testing::world;

/// The scan in deck.data.file becomes its first `n` positions. Collective.
void keep_first(const deck::Deck& deck, std::int64_t n) {
  if (world().is_root()) {
    io::Extents shape;
    std::vector<double> patterns;
    std::vector<double> positions;
    {
      const io::File file = io::File::open(deck.data.file);
      shape = file.info("patterns").extents;
      patterns = file.read_doubles("patterns");
      positions = file.read_doubles("positions_m");
    }
    shape[0] = n;
    patterns.resize(static_cast<std::size_t>(n * shape[1] * shape[2]));
    positions.resize(static_cast<std::size_t>(2 * n));
    io::File file = io::File::create(deck.data.file);
    file.write_doubles("patterns", shape, patterns);
    file.write_doubles("positions_m", {n, 2}, positions);
  }
  world().barrier();
}

constexpr double tolerance = sizeof(Real) == 4 ? 5e-3 : 1e-9;

class LittleOverlap : public ::testing::TestWithParam<std::tuple<bool, std::string>> {};

TEST_P(LittleOverlap, EndsBelowAnEmptyObjectOnAnyRanks) {
  constexpr int n_epochs = 50;
  const auto& [is_line, method] = GetParam();
  const testing::SharedFolder folder("little_overlap");
  // 9 x 9 positions, of which the first row stays; or 3 x 3, farther apart than a window of 775 nm.
  const deck::Deck deck =
      testing::parsed(folder.path(),
                      {"solver.method=" + method, text("simulation.n_positions=", is_line ? 81 : 9),
                       text("simulation.step_m=", is_line ? 120e-9 : 900e-9)},
                      testing::small_beam + R"(
[data]
file = "scan.h5"
[solver]
epochs = 50
batch_size = 0
[simulation]
detector_shape = [32, 32]
)");
  simulation::simulate(deck, world(), Log(false));
  if (is_line) keep_first(deck, 9);
  run::Run run(deck, world(), Log(false));
  for (int epoch = 0; epoch < n_epochs; ++epoch) run.run_epoch();
  EXPECT_LT(run.measure().error, run.scan().empty_error);
  EXPECT_LT(run.measure().error, 0.5 * run.history().front().error);
  // dm makes much of rounding, and the more the longer.
  testing::expect_same_answer(deck, 5, tolerance, tolerance);
}

INSTANTIATE_TEST_SUITE_P(Scans, LittleOverlap,
                         ::testing::Combine(::testing::Bool(), ::testing::Values("dm", "raar")),
                         [](const auto& shown) {
                           return std::string(std::get<0>(shown.param) ? "line_" : "isolated_") +
                                  std::get<1>(shown.param);
                         });

}  // namespace
}  // namespace tessera::run

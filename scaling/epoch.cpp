#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/core.h>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "commands.hpp"
#include "deck/parse.hpp"
#include "measure.hpp"
#include "run/run.hpp"
#include "simulation/simulation.hpp"

namespace tessera::scaling {
namespace {

constexpr const char* simulated_deck = R"(
[data]
file = "bench_scan.h5"
[experiment]
energy_eV = 8800.0
distance_m = 1.9623693
detector_pixel_m = 75e-6
[probe]
initial = "aperture"
semi_angle_rad = 0.8e-3
defocus_m = 400e-6
[simulation]
scan = "fermat"
n_positions = 516
step_m = 300e-9
detector_shape = [128, 128]
)";

deck::Deck read_deck(const EpochOptions& options) {
  std::ifstream file(options.deck);
  if (!file) throw InputError(text("the deck \"", options.deck, "\" cannot be read"));
  return deck::parse({std::istreambuf_iterator<char>(file), {}}, options.deck, options.overrides);
}

deck::Deck simulated(const comm::Communicator& comm) {
  const auto folder = std::filesystem::temp_directory_path() / "tessera_bench";
  std::filesystem::create_directories(folder);
  deck::Deck deck = deck::parse(simulated_deck, (folder / "deck.toml").string(), {});
  simulation::simulate(deck, comm, Log(false));
  return deck;
}

}  // namespace

void bench_epoch(const EpochOptions& options, const comm::Communicator& comm) {
  deck::Deck deck;
  if (options.deck.empty())
    deck = simulated(comm);
  else
    comm.together([&] { deck = read_deck(options); });
  run::Run run(deck, comm, Log(comm.is_root()));
  const device::Device exec;
  const double before = run.run_epoch().error;
  const double epoch_s = median_seconds(exec, 5, [&] { run.run_epoch(); });
  const double after = run.measure().error;
  if (!(after < before))
    throw AgreedError(ExitCode::failed,
                      "the error did not fall: the benchmark does not reconstruct");
  const auto n_here = static_cast<int>(run.scan().tile().positions.size());
  const Shape2 window = run.scan().info.pattern;
  const physics::WavesView waves("tessera::scaling::waves",
                                 std::clamp(n_here, 1, run.model().chunk_size()),
                                 run.model().n_modes(), window.h, window.w);
  const Reference reference = BareTransforms(exec, waves, n_here).median_of_rounds(exec);
  if (!comm.is_root()) return;
  fmt::print("{} positions of {} x {}, {} mode(s), batch {}\n", run.scan().n_positions(), window.h,
             window.w, run.model().n_modes(), run.scan().plan.solvers.front().batch_size.value());
  const auto print = [](const char* what, double value, const char* unit) {
    fmt::print("{:<52} {:>9.2f} {}\n", what, value, unit);
  };
  print("2 bare transforms per position and mode", 1e3 * reference.transforms_s, "ms");
  print("the same and one pass over the waves", 1e3 * reference.transforms_and_pass_s, "ms");
  print("one epoch, everything included", 1e3 * epoch_s, "ms");
  print("ratio to the transforms", epoch_s / reference.transforms_s, "");
  print("ratio to the transforms and the pass", epoch_s / reference.transforms_and_pass_s, "");
}

}  // namespace tessera::scaling

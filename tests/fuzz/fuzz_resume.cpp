// A result that a run goes on from: what `resume` asks it first, then all that run.resume reads, by
// a deck and a scan that fit.

#include <cstdlib>

#include "tessera/device/runtime.hpp"

#include "deck/parse.hpp"
#include "fuzz/foreign_file.hpp"
#include "run/resumed_deck.hpp"
#include "run/run.hpp"
#include "simulation/simulation.hpp"
#include "support/deck_text.hpp"

namespace {

using namespace tessera;

const std::string toml = testing::small_beam + R"(
n_modes = 2
opr_modes = 1
[data]
file = "scan.h5"
[solver]
method = "lsqml"
epochs = 3
batch_size = 4
[refine]
positions_from_epoch = 1
intensity_from_epoch = 1
background_from_epoch = 1
[simulation]
n_positions = 9
step_m = 90e-9
detector_shape = [16, 16]
)";

/// The deck, with the scan that it names. The first input of a corpus is a result of both, which
/// goes to the file that TESSERA_FUZZ_SEED names.
deck::Deck simulated() {
  const comm::Communicator& world = fuzz::world();
  deck::Deck deck = deck::parse(toml, fuzz::write("deck.toml", {}), {});
  deck.data.file = fuzz::write("scan.h5", {});
  simulation::simulate(deck, world, Log(false));
  if (const char* seed = std::getenv("TESSERA_FUZZ_SEED")) {
    deck.output.file = seed;
    run::Run run(deck, world, Log(false));
    for (int epoch = 0; epoch < 2; ++epoch) run.run_epoch();
    run.write_result(run.measure(), "stopped by a signal");
  }
  return deck;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const comm::Communicator& world = fuzz::world();
  static const device::Runtime runtime(0);
  static const deck::Deck deck = simulated();
  const std::string path = fuzz::write("result.h5", {data, size});
  fuzz::may_refuse(path, [&] {
    deck::parse(run::deck_text_of_result(run::sound_result(path, world, Log(false))), path, {});
  });
  fuzz::may_refuse(path, [&] {
    deck::Deck asked = deck;
    asked.run.resume = path;
    const deck::Deck resumed = run::resumed_deck(asked, world, Log(false));
    const run::Run run(resumed, world, Log(false));
  });
  return 0;
}

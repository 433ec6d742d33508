#include <fmt/core.h>

#include "deck/check.hpp"
#include "simulation/simulation.hpp"
#include "subcommands.hpp"

namespace tessera::drivers {

ExitCode simulate(const DeckWords& words, const comm::Communicator& comm) {
  const deck::Deck deck = read_deck(words, comm);
  comm.together([&] {
    if (comm.is_root()) deck::check_written_path(deck, words.path, "data.file", deck.data.file);
  });
  simulation::simulate(deck, comm, Log(comm.is_root()));
  if (comm.is_root()) fmt::print("scan {}\n", deck.data.file);
  return ExitCode::done;
}

}  // namespace tessera::drivers

#include "deck/check.hpp"
#include "run/resumed_deck.hpp"
#include "run/run.hpp"
#include "subcommands.hpp"

namespace tessera::drivers {

ExitCode resume(const DeckWords& words, const std::string& summary,
                const comm::Communicator& comm) {
  const std::string from = run::sound_result(words.path, comm, Log(comm.is_root()));
  const deck::Deck deck = run::deck_to_resume(words.path, from, words.overrides, comm);
  comm.together([&] {
    if (!comm.is_root()) return;
    deck::check_written_path(deck, "", "output.file", deck.output.file);
    check_written_beside(deck, words.path, summary);
  });
  return run::reconstruct(deck, comm, {summary});
}

}  // namespace tessera::drivers

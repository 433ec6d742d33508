#include "deck/check.hpp"
#include "run/resumed_deck.hpp"
#include "run/run.hpp"
#include "subcommands.hpp"

namespace tessera::drivers {

ExitCode reconstruct(const DeckWords& words, const std::string& summary, bool goes_on,
                     const comm::Communicator& comm) {
  deck::Deck deck = read_deck(words, comm);
  std::string& resume = deck.run.resume;
  if (!resume.empty()) resume = run::sound_result(resume, comm, Log(comm.is_root()));
  comm.together([&] {
    if (!comm.is_root()) return;
    deck::check_written_path(deck, words.path, "output.file", deck.output.file);
    check_written_beside(deck, words.path, summary);
  });
  return run::reconstruct(deck, comm, {summary, goes_on});
}

}  // namespace tessera::drivers

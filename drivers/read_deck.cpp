#include <fstream>
#include <iterator>

#include "tessera/base/text.hpp"

#include "deck/parse.hpp"
#include "subcommands.hpp"

namespace tessera::drivers {

deck::Deck read_deck(const DeckWords& words, const comm::Communicator& comm) {
  std::string toml_text;
  comm.together([&] {
    if (!comm.is_root()) return;
    std::ifstream file(words.path);
    if (!file)
      throw InputError(text("the deck \"", words.path, "\" does not exist or is not readable"));
    toml_text.assign(std::istreambuf_iterator<char>(file), {});
  });
  comm.broadcast(toml_text);
  deck::Deck deck;
  comm.together([&] { deck = deck::parse(toml_text, words.path, words.overrides); });
  return deck;
}

}  // namespace tessera::drivers

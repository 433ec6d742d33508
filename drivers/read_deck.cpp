#include <fstream>
#include <iterator>
#include <utility>

#include "tessera/base/text.hpp"

#include "deck/check.hpp"
#include "deck/parse.hpp"
#include "subcommands.hpp"

namespace tessera::drivers {
namespace {

/// Those of rank 0, whose environment alone is sure to be the job's.
deck::Words agreed_words(const std::string& text, const comm::Communicator& comm) {
  std::string lines;
  if (comm.is_root())
    for (const auto& [name, value] : deck::words_of_environment(text))
      lines += tessera::text(name, '=', value, '\0');
  comm.broadcast(lines);
  deck::Words words;
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t equals = lines.find('=', begin);
    const std::size_t end = lines.find('\0', equals);
    words[lines.substr(begin, equals - begin)] = lines.substr(equals + 1, end - equals - 1);
    begin = end + 1;
  }
  return words;
}

}  // namespace

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
  const deck::Words in_braces = agreed_words(toml_text + joined(words.overrides), comm);
  deck::Deck deck;
  comm.together([&] { deck = deck::parse(toml_text, words.path, words.overrides, &in_braces); });
  return deck;
}

void check_written_beside(const deck::Deck& deck, const std::string& deck_path,
                          const std::string& summary) {
  for (const auto& [name, path] : {std::pair("output.fallback", deck.output.fallback),
                                   {"output.report", deck.output.report},
                                   {"--summary", summary}})
    if (!path.empty()) deck::check_written_path(deck, deck_path, name, path);
}

}  // namespace tessera::drivers

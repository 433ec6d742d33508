// A deck, and after each NUL a key=value word: refused, or resolved to a text that is the same
// deck.

#include <cstdlib>
#include <string>
#include <vector>

#include "deck/parse.hpp"
#include "fuzz/foreign_file.hpp"

namespace {

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\0', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tessera;
  std::vector<std::string> words = parts_of({data, data + size});
  const std::string toml = words.front();
  words.erase(words.begin());
  fuzz::may_refuse("", [&] {
    const std::string resolved = deck::resolved_text(deck::parse(toml, "deck.toml", words));
    if (deck::resolved_text(deck::parse(resolved, "deck.toml", {})) != resolved) std::abort();
  });
  return 0;
}
